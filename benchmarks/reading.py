"""How long a data set of millions of triples takes to be read, first and again, and how much memory.

`python -m benchmarks.reading --entities 4.6e6 --triples 20.6e6 --relations 822 --folder FOLDER` writes a
planted graph to FOLDER by seed (unless it is there), and reads it twice, in a process of its own each time:
once from its files, once from what was kept.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from pathlib import Path

from benchmarks.planted import write_graph


def read(folder: str, store: str) -> None:
    """Load the data set and print seconds and the most memory held, as JSON."""
    from mohone.core.machine import peak_memory
    from mohone.data import FolderDataset

    start, cpu = time.perf_counter(), time.process_time()
    kg = FolderDataset("large", folder, store_dir=store).load()
    figures = {
        "seconds": round(time.perf_counter() - start, 1),
        "cpu_seconds": round(time.process_time() - cpu, 1),
        "peak_gb": round(peak_memory() / 1e9, 2),
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
