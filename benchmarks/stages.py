"""What a job costs by the size of the graph: seconds and memory of each stage, in a process of its own.

`python -m benchmarks.stages FOLDER... --out OUT` takes graphs of `benchmarks.planted` and prints a table.

The network embedding stands in for the trained model, too: each entity's vector is its own in the network,
and all relations are the same. So a model's list of candidates holds right answers, as a trained one's does.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.processes import usable_cores
from benchmarks.text import Record
from mohone.core.files import write_json
from mohone.core.machine import peak_memory

Work = Callable[[], Record]

DIM, PASSES, NEIGHBORS, STEPS = 128, 3, 20, 200
_THREADS = 2


def read(folder: Path, out: Path) -> Work:  # noqa: ARG001
    """The data set, from its files or what was kept of them."""
    return lambda: _counts(_data(folder))


def train(folder: Path, out: Path) -> Work:  # noqa: ARG001
    """Steps of ComplEx by `recipe=large`, and how long an epoch of such steps is."""
    from itertools import islice

    import torch
    from hydra import compose, initialize_config_dir

    from mohone.configuration.compose import to_plain
    from mohone.configuration.recipes import CONF, register_resolvers
    from mohone.core.config import build
    from mohone.kge.tables import make_gradients_dense
    from mohone.training.objective import Share

    register_resolvers()
    with initialize_config_dir(version_base="1.3", config_dir=str(CONF)):
        config = to_plain(compose("config", ["recipe=large", "kge_model=complex"]), {})
    kg = _data(folder)
    model = build("kge_model", config["kge_model"])(n_entities=kg.n_entities, n_relations=kg.n_relations)
    training = build("training", config["training"])
    optimizer = training.new_optimizer(model.parameters(), on_cpu=True)
    batches = training.objective.examples(kg).epoch(
        training.fit.batch_size, torch.Generator().manual_seed(0), Share()
    )

    def work() -> Record:
        start = time.perf_counter()
        for batch in islice(batches, STEPS):
            with model.sparse_gradients():
                loss = training.objective.loss(model, batch)
            loss.backward()
            make_gradients_dense(model, also_large=not training.by_row)
            optimizer.step()
            optimizer.zero_grad()
        n_steps = min(STEPS, len(batches))
        each = (time.perf_counter() - start) / n_steps
        return {"steps": n_steps, "seconds_of_an_epoch": each * len(batches), "loss": float(loss)}

    return work


def network(folder: Path, out: Path) -> Work:  # noqa: ARG001
    """The network of the training triples, and its arrays for walks."""
    from mohone.graph.network import Network

    kg = _data(folder)

    def work() -> Record:
        made = Network.from_triples(kg.train, kg.n_entities)
        return {"edges": made.n_edges, "ends": len(made.walkable.target)}

    return work


def embed(folder: Path, out: Path, *settings: str) -> Work:
    """`shnb` by draws, from the network on, by few passes over the nodes, or as the settings say."""
    from benchmarks.embeddings import learn
    from mohone.graph.network import Network

    kg = _data(folder)

    def work() -> Record:
        made = Network.from_triples(kg.train, kg.n_entities)
        passes = (f"netemb.min_epochs={PASSES}", "netemb.min_steps=1")
        usual = (f"dim={DIM}", "netemb.objective=sampled", *passes)
        vectors, figures = learn(made, "shnb", *usual, *settings)
        np.save(out / "vectors.npy", vectors.numpy())
        return figures

    return work


def neighbors(folder: Path, out: Path) -> Work:  # noqa: ARG001
    """The nearest of each entity."""
    import torch

    from mohone.core.nearest import nearest_neighbors

    vectors = torch.from_numpy(np.load(out / "vectors.npy"))

    def work() -> Record:
        found = nearest_neighbors(vectors, NEIGHBORS)
        np.save(out / "rows.npy", found.rows.int().numpy())
        return {"recall": found.recall}

    return work


def communities(folder: Path, out: Path) -> Work:
    """How many neighbours are of an entity's own planted community, and how many would be by chance."""
    from benchmarks.planted_plan import make_plan

    def work() -> Record:
        kg = _data(folder)
        plan = make_plan(kg.n_entities, kg.n_relations, np.random.default_rng(0))
        of = plan.communities[[int(name.removeprefix("/m/"), 16) for name in kg.entities.names]]
        rows = np.load(out / "rows.npy")
        chance = (np.bincount(of) / len(of)) ** 2
        return {"own": float((of[rows] == of[:, None])[rows >= 0].mean()), "by_chance": float(chance.sum())}

    return work


def retrofitted(folder: Path, out: Path) -> Work:  # noqa: ARG001
    """One table of random numbers, drawn towards the neighbours."""
    import torch

    from mohone.infusion.retrofit import Pull, retrofit

    rows = torch.from_numpy(np.load(out / "rows.npy"))
    torch.manual_seed(0)
    table = torch.randn(len(rows), DIM)
    return lambda: {"shape": list(retrofit(table, rows, Pull(0.2)).shape)}


def evidence(folder: Path, out: Path) -> Work:
    """All usual experts learn and are mixed with the model, on the validation triples."""
    import torch

    from mohone.evidence.fit import fit_evidence
    from mohone.evidence.neighbors import weigh
    from mohone.infusion.evidence import EXPERTS, USUAL
    from mohone.kge.distmult import DistMult

    kg = _data(folder)
    model = DistMult(kg.n_entities, kg.n_relations, DIM, init_std=0.0)
    model.requires_grad_(False)
    model.entity.copy_(torch.from_numpy(np.load(out / "vectors.npy")))
    model.relation.fill_(1.0)
    rows = torch.from_numpy(np.load(out / "rows.npy"))

    def work() -> Record:
        _, notes = fit_evidence(model, kg, weigh(rows), [EXPERTS[name]() for name in USUAL])
        keys = ("mode", "cross_validated_mrr", "queries_fitted_on", "queries_left_out", "experts")
        return {key: notes[key] for key in keys}

    return work


STAGES: dict[str, Callable[[Path, Path], Work]] = {
    "read": read,
    "train": train,
    "network": network,
    "embed": embed,
    "neighbors": neighbors,
    "communities": communities,
    "retrofit": retrofitted,
    "evidence": evidence,
}


def _data(folder: Path) -> Any:
    from mohone.data import FolderDataset

    return FolderDataset("large", str(folder), store_dir=str(folder / "store")).load()


def _counts(kg: Any) -> Record:
    return {"entities": kg.n_entities, "triples": len(kg.train), "relations": kg.n_relations}


def measured(stage: str, folder: Path, out: Path, *settings: str) -> Record:
    """Do a stage in this process: seconds by the clock and of the processor, and the most memory held.

    Args:
        stage: of `STAGES`.
        folder: the graph's.
        out: where stages hand on what they find.
        settings: of the embedding, `KEY=VALUE`.
    """
    from mohone.core.progress import want_progress

    want_progress(False)
    work = embed(folder, out, *settings) if stage == "embed" else STAGES[stage](folder, out)
    start, cpu = time.perf_counter(), time.process_time()
    figures = work()
    return {
        **figures,
        "stage": stage,
        "seconds": time.perf_counter() - start,
        "cpu_seconds": time.process_time() - cpu,
        "peak_gb": peak_memory() / 1e9,
    }


def run_stage(stage: str, folder: Path, out: Path, threads: int, *settings: str) -> Record:
    """The same in a process of its own."""
    code = (
        "import sys, json; from pathlib import Path; from benchmarks.stages import measured; "
        "print(json.dumps(measured(sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3]), *sys.argv[4:])))"
    )
    environment = {**os.environ, "OMP_NUM_THREADS": str(threads), "MKL_NUM_THREADS": str(threads)}
    command = [sys.executable, "-c", code, stage, str(folder), str(out), *settings]
    ran = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, check=True)
    record: Record = json.loads(ran.stdout.splitlines()[-1])
    return {"load": os.getloadavg()[0], "threads": threads, **record}


def table(records: Iterable[Record]) -> str:
    """Markdown: a row a stage, seconds of the processor, by the clock, and GB for each graph."""
    by_graph: dict[str, dict[str, Record]] = {}
    for record in records:
        by_graph.setdefault(record["graph"], {})[record["stage"]] = record
    lines = [
        "| stage | " + " | ".join(by_graph) + " |",
        "| --- |" + " --- |" * len(by_graph),
    ]
    for stage in STAGES:
        cells = [_cell(stages.get(stage)) for stages in by_graph.values()]
        lines.append(f"| {stage} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def _cell(record: Record | None) -> str:
    if record is None:
        return ""
    return f"{record['cpu_seconds']:.0f} s, {record['seconds']:.0f} s, {record['peak_gb']:.1f} GB"


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.stages", description=__doc__)
    parser.add_argument("folders", type=Path, nargs="+")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--stages", nargs="+", choices=tuple(STAGES), default=tuple(STAGES))
    parser.add_argument("--netemb", nargs="+", default=(), metavar="KEY=VALUE", help="of the embedding")
    parser.add_argument("--threads", type=int, default=min(_THREADS, usable_cores()))
    given = parser.parse_args()
    for folder in given.folders:
        out = given.out / folder.name
        out.mkdir(parents=True, exist_ok=True)
        for stage in given.stages:
            record = {"graph": folder.name, **run_stage(stage, folder, out, given.threads, *given.netemb)}
            print(json.dumps(record), flush=True)
            write_json(out / f"{stage}.json", record)
    kept = [out / f"{stage}.json" for out in sorted(given.out.iterdir()) for stage in STAGES]
    print(table(json.loads(path.read_text()) for path in kept if path.exists()))


if __name__ == "__main__":
    main()
