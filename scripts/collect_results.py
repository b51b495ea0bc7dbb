"""Copy the results of a sweep into a folder that is to be kept, without the paths of the machine they ran on.

    python scripts/collect_results.py outputs/table outputs/paper

Failed jobs are left out; tables then show them as missing.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from mohone.configuration.compose import PATHS
from mohone.core.files import write_json
from mohone.core.words import counted
from mohone.reporting.results import read_results


def without_paths(config: dict[str, Any]) -> dict[str, Any]:
    """The configuration with null for the folders that it names."""
    out = {key: dict(value) if isinstance(value, dict) else value for key, value in config.items()}
    for dotted in PATHS:
        group, _, key = dotted.rpartition(".")
        node = out.get(group, {}) if group else out
        if key in node:
            node[key] = None
    return out


def main(source: Path, target: Path) -> int:
    """Copy; the number of copied results is printed."""
    results = [(path, result) for path, result in read_results([source]) if result["status"] == "ok"]
    for path, result in results:
        write_json(target / path.relative_to(source), {**result, "config": without_paths(result["config"])})
    print(f"{counted(len(results), 'result')} copied to {target}")
    return 0


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    sys.exit(main(Path(sys.argv[1]), Path(sys.argv[2])))
