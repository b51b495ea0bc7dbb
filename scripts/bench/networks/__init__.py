"""Network embeddings timed: `graphs` makes graphs, `measures` runs, `quality` judges, `cli` writes."""
