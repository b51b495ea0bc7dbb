"""Knowledge-graph embeddings that know the network they live in."""

from mohone.core.compiling import find_cache

__version__ = "0.1.0"

find_cache()
