"""An undirected network and what flows on it: heat, walks, divergences; nothing of relations."""
