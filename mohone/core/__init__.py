"""What knows no triple and no model: configuration, errors, files, memory, sparse products, vectors."""
