"""`python scripts/bench_networks.py --data-dir DATA`: time, memory and quality of network embeddings.

Each measurement in a process of its own; it leaves `networks.json`, `networks.md` and `networks.png`.
`make bench-networks` installs what it needs, the rival in an environment of its own, and runs it.
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # `mohone`, where it is not installed.

from bench.networks.cli import main

if __name__ == "__main__":
    sys.exit(main())
