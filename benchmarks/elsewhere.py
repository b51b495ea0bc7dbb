"""Models that PyKEEN trained, infused here and ranked by PyKEEN: `python -m benchmarks.elsewhere --help`.

    python -m benchmarks.elsewhere --pykeen-python VENV/bin/python --out outputs/elsewhere

For each data set and model PyKEEN trains (`peer_pykeen.py`) and ranks the test triples, `mohone.infuse`
infuses the folder that it wrote, and PyKEEN ranks with what was written back. What is there already is not
done again. It prints a table, which `elsewhere.md` keeps.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from mohone.core.files import read_json, write_json, write_text
from mohone.reporting.markdown import table

PEER = Path(__file__).parent / "peer_pykeen.py"
DATA = Path(__file__).parents[1] / "mohone/data"
HEADERS = ("data set", "model", "before, PyKEEN", "ours", "after, PyKEEN", "ours", "gain", "p", "chosen")


def main() -> None:
    """Do what is not done yet, and print the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.elsewhere", description=__doc__)
    parser.add_argument("--pykeen-python", type=Path, required=True, help="of an environment with pykeen")
    parser.add_argument("--out", type=Path, required=True, help="a folder; what is in it is kept")
    parser.add_argument("--dataset", nargs="+", default=["umls", "kinships"], help="of the package")
    parser.add_argument("--model", nargs="+", default=["transe", "complex"], help="of peer_pykeen.py")
    parser.add_argument("settings", nargs="*", help="of mohone.infuse, like netemb=struct")
    given = parser.parse_intermixed_args()
    rows = [
        row(given.pykeen_python, given.out.absolute() / f"{dataset}-{model}", dataset, model, given.settings)
        for dataset in given.dataset
        for model in given.model
    ]
    text = table(HEADERS, rows)
    write_text(given.out / "elsewhere.md", text)
    print(text, end="")


def row(python: Path, folder: Path, dataset: str, model: str, settings: list[str]) -> list[str]:
    """Train, rank, infuse, rank."""
    trained, infused, job = (folder / name for name in ("pykeen", "infused", "job"))
    if not trained.exists():
        _run(python, PEER, "train", DATA / dataset, model, trained)
    before = _ranked(python, DATA / dataset, trained)
    if not infused.exists():
        stores = ["--job", job, f"dataset={dataset}", f"store_dir={folder.parent / 'store'}"]
        _run(Path(sys.executable), "-m", "mohone.infuse", trained, "--out", infused, *stores, *settings)
    after = _ranked(python, DATA / dataset, infused)
    result = read_json(job / "result.json")
    figures = [result[name]["filtered"]["mrr"] for name in ("baseline", "infused")]
    p_value = result["significance"]["filtered"]["mrr"]["p_value"]
    mrr = [before["mrr"], figures[0], after["mrr"], figures[1]]
    gain = f"{after['mrr'] - before['mrr']:+.4f}"
    return [dataset, model, *(f"{x:.4f}" for x in mrr), gain, f"{p_value:.2g}", result["selection"]["chosen"]]


def _ranked(python: Path, data: Path, folder: Path) -> dict[str, Any]:
    """PyKEEN's figures, beside the folder."""
    path = folder.parent / f"{folder.name}.json"
    if not path.exists():
        write_json(path, json.loads(_run(python, PEER, "evaluate", data, folder).splitlines()[-1]))
    figures: dict[str, Any] = read_json(path)
    return figures


def _run(python: Path, *arguments: object) -> str:
    command = [str(python), *map(str, arguments)]
    print(" ".join(command), file=sys.stderr, flush=True)
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


if __name__ == "__main__":
    main()
