"""Ranking at the size of Wikidata5M: random vectors, random triples, all entities as candidates.

    python -m benchmarks.ranking --triples 500

What it costs to rank does not depend on how good a model is. Ends of triples are drawn with odds `rank^-0.5`
and relations with odds `1 / rank`, so that some queries have very many known answers, and some relations very
many candidates, as in Wikidata. It writes seconds of each part, GFLOP/s of the products (a query with several
right answers is scored once, and counted once), and the memory of the whole process at its peak.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from typing import Any

import torch
from torch import Tensor

from mohone.core.machine import peak_memory
from mohone.data import SIDES, KnowledgeGraph, query_keys
from mohone.data.load_report import LoadReport
from mohone.data.vocabulary import Vocabulary
from mohone.evaluation.link_prediction import LinkPrediction
from mohone.evaluation.settings import SETTINGS
from mohone.kge import ComplEx


def main() -> None:
    """Rank once."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--entities", type=int, default=4_600_000)
    parser.add_argument("--relations", type=int, default=822)
    parser.add_argument("--train", type=int, default=20_600_000, help="training triples")
    parser.add_argument("--triples", type=int, default=5_000, help="that are ranked, head and tail")
    parser.add_argument("--dim", type=int, default=64, help="complex components: twice as many numbers")
    parser.add_argument("--settings", default="filtered", help=f"some of {','.join(SETTINGS)}")
    parser.add_argument("--threads", type=int, default=2)
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)
    print(json.dumps(measure(arguments), indent=1))


def measure(arguments: argparse.Namespace) -> dict[str, Any]:
    """Seconds, products a second, memory."""
    kg = random_graph(arguments.entities, arguments.relations, arguments.train, arguments.triples)
    torch.manual_seed(0)
    model = ComplEx(kg.n_entities, kg.n_relations, arguments.dim, init_std=1.0).requires_grad_(False)
    before = peak_memory() / 2**30
    start = time.perf_counter()
    prediction = LinkPrediction(kg, "test", tuple(arguments.settings.split(",")))
    built = time.perf_counter()
    worked = time.process_time()
    ranks = prediction.ranks(model)
    end, worked = time.perf_counter(), time.process_time() - worked
    n_scored = sum(len(query_keys(kg.test, side, kg.n_relations).unique()) for side in SIDES)
    return {
        **vars(arguments),
        "index_seconds": built - start,
        "rank_seconds": end - built,
        "rank_cpu_seconds": worked,
        "queries": 2 * len(kg.test),
        "distinct_queries": n_scored,
        "gflop_per_second": 4e-9 * n_scored * kg.n_entities * arguments.dim / (end - built),
        "gigabytes_before": before,
        "gigabytes_peak": peak_memory() / 2**30,
        "load": [round(each, 1) for each in os.getloadavg()],
        "mrr": {setting: float(each.mean.reciprocal().mean()) for setting, each in ranks.items()},
    }


def random_graph(n_entities: int, n_relations: int, n_train: int, n_test: int) -> KnowledgeGraph:
    """Triples of which a few entities and relations have most."""
    generator = torch.Generator().manual_seed(0)
    ends = torch.arange(1, n_entities + 1, dtype=torch.float64).rsqrt().cumsum(0)
    uses = torch.arange(1, n_relations + 1, dtype=torch.float64).reciprocal().cumsum(0)

    def drawn(running: Tensor, n: int) -> Tensor:
        chance = torch.rand(n, generator=generator, dtype=torch.float64) * running[-1]
        return torch.searchsorted(running, chance).clamp_(max=len(running) - 1)

    names = torch.randperm(n_entities, generator=generator)
    n = n_train + 2 * n_test
    head = torch.randint(n_entities, (n,), generator=generator)
    triples = torch.stack([head, drawn(uses, n), names[drawn(ends, n)]], 1)
    train, valid, test = triples.split([n_train, n_test, n_test])
    entities, relations = (Vocabulary.of_lines(b"\n" * each) for each in (n_entities, n_relations))
    nothing: Any = None
    report: LoadReport = nothing  # Nobody asks for one.
    return KnowledgeGraph("random", entities, relations, train, valid, test, "", report)


if __name__ == "__main__":
    main()
