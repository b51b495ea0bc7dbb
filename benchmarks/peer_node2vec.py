"""`python peer_node2vec.py EDGES OUT THREADS`, in an environment with pecanpy and gensim: the rival's run.

p = q = 1, ten walks of 80 nodes a node, window 10, 100 dimensions, one epoch, skip-gram with 5 negatives: its
own defaults but for the dimensions. The first-order mode is PecanPy's fastest for p = q = 1.
"""

from __future__ import annotations

import json
import resource
import sys
import time

import numpy as np
from gensim.models import Word2Vec
from pecanpy import pecanpy


def main() -> None:
    """Walk, learn, write vectors and node numbers, print the times."""
    edges, out, threads = sys.argv[1], sys.argv[2], int(sys.argv[3])
    network = pecanpy.FirstOrderUnweighted(p=1, q=1, workers=threads, random_state=0)
    network.read_edg(edges, weighted=False, directed=False)
    network.simulate_walks(1, 2)  # So that nothing is compiled in the measurement.
    start = time.perf_counter()
    network.preprocess_transition_probs()
    walks = network.simulate_walks(num_walks=10, walk_length=80)
    walked = time.perf_counter()
    model = Word2Vec(walks, vector_size=100, window=10, sg=1, min_count=0, epochs=1, workers=threads, seed=0)
    learned = time.perf_counter()
    np.savez(
        out,
        nodes=np.array([int(name) for name in model.wv.index_to_key]),
        vectors=model.wv.vectors.astype(np.float32),
    )
    figures = {
        "seconds": learned - start,
        "walk_seconds": walked - start,
        "learn_seconds": learned - walked,
        "peak_learn_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3,
    }
    print(json.dumps(figures))


if __name__ == "__main__":
    main()
