"""The command line of the networks' benchmark: what is run, and the page that it leaves."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from bench.figures import MISSING, number
from bench.machine import describe, usable_cores
from bench.networks.picture import draw
from bench.processes import run_measurement
from mohone.core.files import write_json, write_text
from mohone.reporting.markdown import table

Record = dict[str, Any]
_NETWORKS = ("shnb", "struct", "node2vec", "deepwalk")
_EDGES_PER_NODE = {1_000_000: 10}  # Others have 4.


def main(arguments: list[str] | None = None) -> int:
    """Measure, print and write; the exit code is 1 if a measurement failed."""
    chosen = _parser().parse_args(arguments)
    records = []
    for spec in _plan(chosen):
        print(spec["name"], flush=True)
        record = {"name": spec["name"], "measure": spec["kind"]}
        record |= run_measurement({**spec, "threads": chosen.threads, "memory_gb": 22.0}, chosen.time_limit)
        print("  ", record.get("failed") or record["result"], flush=True)
        records.append(record)
        report = {"machine": describe(chosen.threads), "measurements": records}
        write_json(chosen.out / "networks.json", report)
    page = _page(report)
    write_text(chosen.out / "networks.md", page)
    draw(records, chosen.out / "networks.png")
    print(page)
    return 1 if any("failed" in record for record in records) else 0


def _plan(chosen: argparse.Namespace) -> Iterator[dict[str, Any]]:
    base = {"data_dir": str(chosen.data_dir.resolve()), "settings": []}
    for name in ("fb15k-237", *(["wn18rr"] if chosen.wn18rr else [])):
        of = {**base, "kind": "network_embed", "graph": name}
        for netemb in _NETWORKS:
            yield {**of, "name": f"{name}, {netemb}, exact", "netemb": netemb}
            if name == "fb15k-237":
                settings = ["netemb.objective=sampled"]
                yield {**of, "name": f"{name}, {netemb}, sampled", "netemb": netemb, "settings": settings}
        if chosen.peer_python:
            peer = {"kind": "network_peer", "peer_python": str(chosen.peer_python.absolute())}
            yield {**of, **peer, "name": f"{name}, PecanPy + gensim"}
    yield {**base, "kind": "network_kernel", "name": "kernel", "graph": "fb15k-237", "n_columns": 64}
    for netemb in _NETWORKS:
        yield {**base, "kind": "network_roles", "name": f"labels, {netemb}", "netemb": netemb}
    for n_nodes in chosen.sizes:
        n_edges = n_nodes * _EDGES_PER_NODE.get(n_nodes, 4)
        of = {"netemb": "shnb", "n_nodes": n_nodes, "n_edges": n_edges}
        yield {**base, **of, "kind": "network_growth", "name": f"power law, {n_nodes:,} nodes"}


def _page(report: Record) -> str:
    records = report["measurements"]
    machine = report["machine"]
    parts = [
        "# Network embeddings",
        f"{machine['cpu']}, {machine['torch_threads']} threads, {machine['memory_gb']:g} GB, "
        f"{machine['date'][:10]}; `scripts/bench_networks.py`.",
        "## Time and quality",
        "d = 100, nine tenths of the edges. AUC: a held-out edge against a pair that is none, by cosine. "
        "Overlap: of the ten nodes with most heat (s = 5) with those of the ten largest products F(u) F(v).",
        _embeddings(_of(records, "network_embed", "network_peer")),
        "## Heat kernel",
        _kernel(_of(records, "network_kernel")),
        "## Labels",
        "The share of nodes whose nearest one has the same label: the bar-bell's roles (inside a bell or its "
        "door; all, with the places on the path), its two bells, the groups of a planted partition (8 x 50).",
        _labels(_of(records, "network_roles")),
        "## Growth",
        "shnb, sampled, one pass over all nodes of a power-law graph, 16 draws a node.",
        _growth(_of(records, "network_growth")),
    ]
    failed = [f"- {record['name']}: {record['failed']}" for record in records if "failed" in record]
    return "\n\n".join([*parts, *(["## Failed", "\n".join(failed)] if failed else [])]) + "\n"


def _of(records: list[Record], *kinds: str) -> list[Record]:
    return [record for record in records if record["measure"] in kinds]


def _cells(record: Record, *keys: str) -> tuple[str, ...]:
    result = record.get("result", {})
    return tuple(number(result.get(key)) for key in keys)


def _embeddings(records: list[Record]) -> str:
    header = ("embedding", "seconds", "peak MB", "pairs a second", "AUC", "overlap")
    keys = ("seconds", "peak_learn_mb", "pairs_per_second", "auc", "overlap")
    return table(header, [(record["name"], *_cells(record, *keys)) for record in records])


def _kernel(records: list[Record]) -> str:
    header = ("columns", "seconds", "scipy's expm_multiply", "largest difference")
    keys = ("n_columns", "seconds", "peer_seconds", "largest_difference")
    return table(header, [_cells(record, *keys) for record in records])


def _labels(records: list[Record]) -> str:
    header = ("embedding", "roles", "all roles", "bells", "communities")
    keys = ("roles", "all_roles", "bells", "communities")
    return table(header, [(record["name"], *_cells(record, *keys)) for record in records])


def _growth(records: list[Record]) -> str:
    header = ("nodes", "edges", "seconds", "pairs a second", "peak MB")
    keys = ("n_nodes", "n_edges", "seconds", "pairs_per_second", "peak_learn_mb")
    return table(header, [_cells(record, *keys) for record in records]) if records else MISSING


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data-dir", type=Path, required=True, help="folder with fb15k-237/ and wn18rr/")
    parser.add_argument("--out", type=Path, default=Path("outputs/bench"))
    parser.add_argument("--peer-python", type=Path, help="a Python with pecanpy and gensim; none: no rival")
    parser.add_argument("--wn18rr", action="store_true", help="WN18RR, too: a quarter of an hour more")
    sizes = [100_000, 300_000, 1_000_000, 5_000_000]
    parser.add_argument("--sizes", type=int, nargs="*", default=sizes, help="nodes of the power-law graphs")
    parser.add_argument("--threads", type=int, default=usable_cores())
    parser.add_argument("--time-limit", type=float, default=1500.0, help="seconds of a measurement")
    return parser
