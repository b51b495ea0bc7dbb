"""The benchmark's command line: runs the plan, one measurement after the other, and writes the results."""

from __future__ import annotations

import argparse
import dataclasses
import sys
from pathlib import Path
from typing import Any

from bench.machine import describe, package_version, physical_memory, usable_cores
from bench.picture import draw
from bench.plan import KINDS, MODELS, Options, full_spec, plan
from bench.processes import run_measurement
from bench.ratios import all_ratios
from bench.tables import describe as name_of
from bench.tables import page
from mohone.core.files import write_json, write_text

_SHOWN = {
    "epoch_seconds": "s an epoch",
    "evaluate_seconds": "s for the test split",
    "lightning_percent": "% of a step",
    "batch_size": "is the best batch size",
}


def main(arguments: list[str] | None = None) -> int:
    """Measure everything."""
    chosen = _parser().parse_args(arguments)
    options = _options(chosen)
    fault = check(options)
    if fault:
        print(fault, file=sys.stderr)
        return 2
    report = measure_all(options, chosen.out)
    text = page(report)
    write_text(chosen.out / "bench.md", text)
    print("\n" + text)
    if not draw(report, chosen.out / "bench.png"):
        print("matplotlib is not installed: bench.png was not drawn.")
    print(f"All figures are in {chosen.out}.")
    return 0


def check(options: Options) -> str:
    """What stands in the way, as a sentence; empty: nothing."""
    for option, chosen, known in (("models", options.models, MODELS), ("only", options.only, KINDS)):
        unknown = [name for name in chosen if name not in known]
        if unknown:
            return f"`--{option}` must be among {', '.join(known)}, but has {unknown[0]!r}."
    folder = Path(options.data_dir) / options.dataset_folder
    if not options.dataset and not folder.is_dir():
        return f"`--data-dir` must hold the folder {options.dataset_folder}, but {folder} is none."
    if options.pykeen and package_version("pykeen") is None:
        return "PyKEEN must be installed, which `make bench` does, or left out by `--no-pykeen`."
    return ""


def measure_all(options: Options, out: Path) -> dict[str, Any]:
    """The report; written after each measurement, so that an interrupted run leaves what it has."""
    report: dict[str, Any] = {
        "machine": describe(options.threads),
        "options": dataclasses.asdict(options),
        "ratios": {},
        "measurements": [],
    }
    records: list[dict[str, Any]] = report["measurements"]
    items = plan(options)
    for number, item in enumerate(items, 1):
        spec, limit = full_spec(item, options, records)
        print(f"[{number}/{len(items)}] {name_of(item)}: ", end="", flush=True)
        record = run_measurement(spec, limit)
        print(_short(record), flush=True)
        records.append(record)
        report["ratios"] = all_ratios(records)
        write_json(out / "bench.json", report)
    return report


def _short(record: dict[str, Any]) -> str:
    if "failed" in record:
        return f"failed: {record['failed']}"
    result = record["result"]
    figures = [f"{result[key]:.4g} {unit}" for key, unit in _SHOWN.items() if key in result]
    return figures[0] if figures else "done"


def _options(chosen: argparse.Namespace) -> Options:
    given = vars(chosen).items()
    fields = {field.name for field in dataclasses.fields(Options)}
    values = {name: value for name, value in given if name in fields}
    for name in ("models", "only"):
        values[name] = tuple(dict.fromkeys(part.strip() for part in values[name].split(",")))
    values["data_dir"] = str(chosen.data_dir.resolve())  # Children run in folders of their own.
    return Options(**values)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python scripts/bench_kge.py", description=__doc__)
    add = parser.add_argument
    add("--data-dir", type=Path, default=Path("../shared/data"), help="the folder with the data set's folder")
    add("--dataset-folder", default="fb15k-237", help="the data set's folder in it (default: %(default)s)")
    add("--dataset", choices=("umls", "kinships"), help="a data set of the package in place of a folder")
    add("--out", type=Path, default=Path("outputs/bench"), help="where results go (default: %(default)s)")
    add("--models", default=",".join(MODELS), help="with commas between (default: all)")
    add("--dim", type=int, default=100, help="default: %(default)s")
    add("--batch-size", type=int, default=512, help="default: %(default)s")
    add("--seconds", type=float, default=15.0, help="of timed steps in a measurement (default: %(default)s)")
    add("--threads", type=int, default=usable_cores(), help="of torch (default: the cores, %(default)s)")
    add("--negatives", type=int, default=64, help="PyKEEN's for each triple (default: %(default)s)")
    add("--pykeen-test", type=int, default=1024, help="test triples it ranks (default: %(default)s)")
    add("--time-limit", type=float, default=300.0, help="seconds of a measurement (default: %(default)s)")
    add("--quality-limit", type=float, default=3600.0, help="seconds of a training (default: %(default)s)")
    memory = round(0.85 * physical_memory() / 1e9, 1)
    add("--memory-gb", type=float, default=memory, help="limit of a measurement (default: %(default)s)")
    add("--only", default=",".join(KINDS), help="kinds of measurements, of %(default)s (default: all)")
    add("--no-pykeen", dest="pykeen", action="store_false", help="measure ours only")
    add("--skip-quality", dest="quality", action="store_false", help="leave time to quality out")
    return parser
