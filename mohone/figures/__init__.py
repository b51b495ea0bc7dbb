"""Floor 4: what results and embeddings look like. Each function returns a Matplotlib figure."""
