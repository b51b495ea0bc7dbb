"""How long training and evaluation take, ours, PyKEEN's, and floors: `python -m benchmarks.kge --help`.

    python -m benchmarks.kge --data-dir DATA --out FOLDER --only transe,complex

It leaves `bench.json` (every figure), `bench.md` (the tables, also printed) and `bench.png` in FOLDER.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.kge_page import all_ratios, draw, find, page
from benchmarks.processes import machine, measure_all, package_version, usable_cores
from benchmarks.text import Record
from mohone.core.files import write_json, write_text

MODELS = ("transe", "transh", "transr", "transd", "rescal", "distmult", "complex", "analogy")
DOT_PRODUCT = ("rescal", "distmult", "complex", "analogy")
WITH_EVIDENCE = ("transe", "complex")
OF_A_MODEL = ("ours", "pykeen", "floor")
SIDES = (*OF_A_MODEL, "lightning", "quality")
_SETTINGS = {
    "batch_size": 512,
    "negatives": 64,  # PyKEEN's, for each triple.
    "pykeen_test": 1024,  # Test triples of the larger of its two samples.
    "time_limit": 300.0,
}
_QUALITY_LIMIT = 3600.0
_FALLBACK_BATCH = 16
_SAMPLED, _ALL = "negative_sampling", "one_vs_all"


def main(arguments: list[str] | None = None) -> int:
    """Measure, write and print."""
    parser = _parser()
    chosen = parser.parse_args(arguments)
    folder = chosen.data_dir / chosen.dataset_folder
    if not folder.is_dir():
        parser.error(f"--data-dir must hold the folder {chosen.dataset_folder}, but {folder} is none.")
    models, sides = chosen.only
    if "pykeen" in sides and package_version("pykeen") is None:
        print("PyKEEN is not installed, and left out: `make bench` installs it.")
        sides = tuple(side for side in sides if side != "pykeen")
    paths = {"data_dir": str(chosen.data_dir.resolve()), "out": str(chosen.out)}
    options = {**_SETTINGS, **vars(chosen), **paths, "only": [*models, *sides]}
    records: list[Record] = []
    report: Record = {"machine": machine(chosen.threads), "options": options, "measurements": records}
    specs = ({**options, **item} for item in plan(models, sides, records))
    measure_all(specs, report, chosen.out / "bench.json")
    report["ratios"] = all_ratios(records)
    write_json(chosen.out / "bench.json", report)
    write_text(chosen.out / "bench.md", page(report))
    print("\n" + page(report))
    if not draw(records, chosen.out / "bench.png"):
        print("matplotlib is not installed: bench.png was not drawn.")
    print(f"All figures are in {chosen.out}.")
    return 0


def plan(models: tuple[str, ...], sides: tuple[str, ...], records: list[Record]) -> Iterator[dict[str, Any]]:
    """What to measure, side by side what is compared: `kind`, `model` and, where there is one, `objective`.

    Args:
        models, sides: names in `MODELS` and `SIDES`.
        records: grows while this is gone through: PyKEEN's evaluation has the batch size of its probe.
    """
    return (item for item in _plan(models, records) if item["kind"].split("_")[0] in sides)


def _plan(models: tuple[str, ...], records: list[Record]) -> Iterator[dict[str, Any]]:
    for model in models:
        pykeen, dot_product = model != "analogy", model in DOT_PRODUCT
        for kind, objective, is_measured in (
            ("ours_train", _SAMPLED, True),
            ("pykeen_train", _SAMPLED, pykeen),
            ("ours_train", _ALL, dot_product or model == "transe"),
            ("floor_train", _ALL, dot_product),
        ):
            if is_measured:
                yield {"kind": kind, "model": model, "objective": objective}
        yield {"kind": "ours_evaluate", "model": model}
        if model in WITH_EVIDENCE:
            yield {"kind": "ours_evidence", "model": model}
        if dot_product:
            yield {"kind": "floor_evaluate", "model": model}
        if pykeen:
            yield {"kind": "pykeen_probe", "model": model}
            yield {"kind": "pykeen_evaluate", "model": model, "batch_size": probed_batch(model, records)}
    for kind, model, objective, more in (
        ("lightning", "transe", _SAMPLED, {}),
        ("lightning", "distmult", _ALL, {}),
        ("quality", "transe", _SAMPLED, {"target": 0.28, "time_limit": _QUALITY_LIMIT}),
        ("quality", "complex", _ALL, {"target": 0.34, "time_limit": _QUALITY_LIMIT}),
    ):
        if model in models:
            yield {"kind": kind, "model": model, "objective": objective, **more}


def probed_batch(model: str, records: list[Record]) -> int:
    """The quickest batch size of PyKEEN's evaluation, a small one where the probe failed."""
    found = find(records, "pykeen_probe", model, None).get("result", {})
    return int(found.get("batch_size", _FALLBACK_BATCH))


def _only(text: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Models and sides among the names; all, where there are none of either."""
    names = [name.strip() for name in text.split(",")]
    for name in names:
        if name not in MODELS + SIDES:
            known = ", ".join(MODELS + SIDES)
            raise argparse.ArgumentTypeError(f"must be among {known}, but has {name!r}.")
    models, sides = (tuple(name for name in known if name in names) for known in (MODELS, SIDES))
    return models or MODELS, sides or OF_A_MODEL


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.kge", description=__doc__)
    add = parser.add_argument
    add("--data-dir", type=Path, required=True, help="the folder with the data set's folder")
    add("--dataset-folder", default="fb15k-237", help="the data set's folder in it (default: %(default)s)")
    add("--out", type=Path, required=True, help="where results go")
    sides = f"of {', '.join(MODELS)}, and of {', '.join(SIDES)} (models alone: {', '.join(OF_A_MODEL)})"
    add("--only", type=_only, default=(MODELS, SIDES), help=f"names with commas between, {sides}")
    add("--dim", type=int, default=100, help="default: %(default)s")
    add("--seconds", type=float, default=15.0, help="of timed steps in a measurement (default: %(default)s)")
    add("--threads", type=int, default=usable_cores(), help="of torch (default: the cores, %(default)s)")
    return parser


if __name__ == "__main__":
    sys.exit(main())
