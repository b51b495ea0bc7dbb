"""Floor 4: what a folder of results adds up to.

All is read from what jobs left: `result.json`, and for the star beside node2vec the `ranks.npz` beside it.
"""
