"""Knowledge-graph embeddings that know the network they live in."""

__version__ = "0.1.0"
