"""Network evidence in the score: experts on training triples and their mix with a model; trains none."""
