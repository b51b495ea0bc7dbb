"""`python scripts/bench_kge.py --data-dir DATA --out outputs/bench`: how long training and evaluation take.

It runs what `bench/plan.py` lists, each measurement in a process of its own, and leaves `bench.json` (every
figure), `bench.md` (the tables, also printed) and `bench.png` in the folder. `bench/__init__.py` says which
file measures what. `make bench` installs what it needs and runs it.
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # `mohone`, where it is not installed.

from bench.cli import main

if __name__ == "__main__":
    sys.exit(main())
