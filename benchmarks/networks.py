"""Time, memory and quality of network embeddings, ours and PecanPy's: `python -m benchmarks.networks --help`.

    python -m benchmarks.networks --data-dir DATA --out FOLDER --only kernel "power law"

It leaves `networks.json`, `networks.md` (also printed) and `networks.png` in FOLDER.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks import text
from benchmarks.processes import machine, measure_all, usable_cores
from benchmarks.text import Record, number
from mohone.core.errors import ConfigError
from mohone.core.files import write_text
from mohone.reporting.markdown import table
from mohone.reporting.plotting import new_figure, save_figure

_NETWORKS = ("shnb", "struct", "node2vec", "deepwalk")
_SIZES = {100_000: 400_000, 300_000: 1_200_000, 1_000_000: 10_000_000, 5_000_000: 20_000_000}
_HEADERS = {
    "name": "embedding",
    "seconds": "seconds",
    "peak_learn_mb": "peak MB",
    "pairs_per_second": "pairs a second",
    "auc": "AUC",
    "n_columns": "columns",
    "peer_seconds": "scipy's expm_multiply",
    "n_nodes": "nodes",
    "n_edges": "edges",
}
# Of each section its title, the kinds of measurements, the figures of a row, and what it says first.
_SECTIONS: tuple[tuple[str, tuple[str, ...], str, str], ...] = (
    (
        "Time and quality",
        ("network_embed", "network_peer"),
        "name seconds peak_learn_mb pairs_per_second auc overlap",
        "d = 100, nine tenths of the edges. AUC: a held-out edge against a pair that is none, by cosine. "
        "Overlap: of the ten nodes with most heat (s = 5) with those of the ten largest products F(u) F(v).",
    ),
    (
        "Heat kernel",
        ("network_kernel",),
        "n_columns seconds peer_seconds largest_difference",
        "A block of rows (s = 5), ours and scipy's.",
    ),
    (
        "Labels",
        ("network_roles",),
        "name roles all_roles bells communities",
        "The share of nodes whose nearest one has the same label: the bar-bell's roles (inside a bell or its "
        "door; all, with the places on the path), its two bells, the groups of a planted partition (8 x 50).",
    ),
    (
        "Growth",
        ("network_growth",),
        "n_nodes n_edges seconds pairs_per_second peak_learn_mb",
        "shnb, sampled, one pass over all nodes of a power-law graph, 16 draws a node.",
    ),
)


def main(arguments: list[str] | None = None) -> int:
    """Measure, print and write; the exit code is 1 if a measurement failed."""
    chosen = _parser().parse_args(arguments)
    common = {"threads": chosen.threads, "time_limit": 1500.0, "data_dir": str(chosen.data_dir.resolve())}
    wanted = [spec for spec in plan(chosen.peer_python) if any(word in spec["name"] for word in chosen.only)]
    records: list[Record] = []
    report: Record = {"machine": machine(chosen.threads), "measurements": records}
    measure_all(({**common, **spec} for spec in wanted), report, chosen.out / "networks.json")
    write_text(chosen.out / "networks.md", page(report))
    print("\n" + page(report))
    draw(records, chosen.out / "networks.png")
    return int(any("failed" in record for record in records))


def plan(peer_python: Path | None) -> Iterator[dict[str, Any]]:
    """What to measure: `name`, `kind` and what it takes."""
    for graph in ("fb15k-237", "wn18rr"):
        of: dict[str, Any] = {"kind": "network_embed", "graph": graph}
        for netemb in _NETWORKS:
            yield {**of, "name": f"{graph}, {netemb}, exact", "netemb": netemb, "settings": []}
            if graph == "fb15k-237":
                settings = ["netemb.objective=sampled"]
                yield {**of, "name": f"{graph}, {netemb}, sampled", "netemb": netemb, "settings": settings}
        if peer_python:
            peer = {"kind": "network_peer", "peer_python": str(peer_python.absolute())}
            yield {**of, **peer, "name": f"{graph}, PecanPy + gensim"}
    yield {"kind": "network_kernel", "name": "kernel", "graph": "fb15k-237", "n_columns": 64}
    for netemb in _NETWORKS:
        yield {"kind": "network_roles", "name": f"labels, {netemb}", "netemb": netemb}
    for n_nodes, n_edges in _SIZES.items():
        name = f"power law, {n_nodes:,} nodes"
        yield {"kind": "network_growth", "name": name, "n_nodes": n_nodes, "n_edges": n_edges}


def page(report: Record) -> str:
    """All tables, as Markdown; those of which nothing was measured are left out."""
    records, sections = report["measurements"], {}
    for title, kinds, figures, first in _SECTIONS:
        keys = figures.split()
        header = [_HEADERS.get(key, key.replace("_", " ")) for key in keys]
        rows = [[_cell(record, key) for key in keys] for record in records if record["kind"] in kinds]
        sections[title] = f"{first}\n\n{table(header, rows)}" if rows else ""
    return text.page("Network embeddings", report["machine"], sections, records)


def _cell(record: Record, key: str) -> str:
    return record["name"] if key == "name" else number(record.get("result", {}).get(key))


def draw(records: list[Record], path: Path) -> bool:
    """Write how time and memory grow with the graph; False: matplotlib or the measurements are missing."""
    points = [r["result"] for r in records if r["kind"] == "network_growth" and "result" in r]
    if not points:
        return False
    try:
        figure, axes = new_figure(8, 3.2, 2)
    except ConfigError:
        return False
    size = [point["n_nodes"] + point["n_edges"] for point in points]
    seconds = [point["seconds"] for point in points]
    memory = [point["peak_learn_mb"] / 1e3 for point in points]
    for axis, values, label in zip(axes, (seconds, memory), ("seconds a pass", "peak GB"), strict=True):
        axis.loglog(size, values, "o-")
        axis.set(xlabel="nodes + edges", ylabel=label)
        axis.grid(visible=True, alpha=0.3)
    save_figure(figure, path)
    return True


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.networks", description=__doc__)
    add = parser.add_argument
    add("--data-dir", type=Path, required=True, help="the folder with fb15k-237/ and wn18rr/")
    add("--out", type=Path, required=True, help="where results go")
    named = "measurements with one of these in their names, such as shnb, wn18rr, labels (default: all)"
    add("--only", nargs="+", default=[""], metavar="WORD", help=named)
    add("--peer-python", type=Path, help="a Python with pecanpy and gensim; none: no rival")
    add("--threads", type=int, default=usable_cores(), help="default: the cores, %(default)s")
    return parser


if __name__ == "__main__":
    sys.exit(main())
