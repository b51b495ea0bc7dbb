"""How long a data set of millions of triples takes to be read, first and again, and how much memory.

`python -m benchmarks.reading --entities 4.6e6 --triples 20.6e6 --relations 822 --folder FOLDER` writes a
power-law graph to FOLDER by seed (unless it is there), and reads it twice, in a process of its own each time:
once from its files, once from what was kept.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

_BLOCK = 1 << 20


def write_graph(folder: Path, n_entities: int, n_triples: int, n_relations: int) -> None:
    """Ends drawn with odds `rank^-0.5`, as `benchmarks.graphs` does; valid and test are a thousandth each."""
    rng = np.random.default_rng(0)
    running = np.arange(1, n_entities + 1, dtype=np.float64) ** -0.5
    np.cumsum(running, out=running)
    number = rng.permutation(n_entities)
    folder.mkdir(parents=True, exist_ok=True)
    for split, n in (("train", n_triples), ("valid", n_triples // 1000), ("test", n_triples // 1000)):
        with (folder / f"{split}.txt").open("w") as file:
            for first in range(0, n, _BLOCK):
                size = min(_BLOCK, n - first)
                head, tail = (
                    number[
                        np.minimum(np.searchsorted(running, rng.random(size) * running[-1]), n_entities - 1)
                    ]
                    for _ in range(2)
                )
                rows = zip(
                    head.tolist(), rng.integers(n_relations, size=size).tolist(), tail.tolist(), strict=True
                )
                file.writelines(f"/m/{h:x}\trelation/{r}\t/m/{t:x}\n" for h, r, t in rows)


def read(folder: str, store: str) -> None:
    """Load the data set and print seconds and the most memory held, as JSON."""
    from mohone.data import FolderDataset

    start, cpu = time.perf_counter(), time.process_time()
    kg = FolderDataset("large", folder, store_dir=store).load()
    figures = {
        "seconds": round(time.perf_counter() - start, 1),
        "cpu_seconds": round(time.process_time() - cpu, 1),
        "peak_gb": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6, 2),
        "graph": repr([kg.n_entities, kg.n_relations, len(kg.train)]),
    }
    print(json.dumps(figures))


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.reading", description=__doc__)
    for name, usual in (("entities", 1e6), ("triples", 5e6), ("relations", 822)):
        parser.add_argument(f"--{name}", type=float, default=usual)
    parser.add_argument("--folder", type=Path, required=True)
    given = parser.parse_args()
    if not (given.folder / "test.txt").exists():
        write_graph(given.folder, int(given.entities), int(given.triples), int(given.relations))
    for state in ("from its files", "from what was kept"):
        folders = (str(given.folder), str(given.folder / "store"))
        code = f"from benchmarks.reading import read; read(*{folders!r})"
        ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
        print(f"{state}: {ran.stdout.strip()}", flush=True)


if __name__ == "__main__":
    main()
