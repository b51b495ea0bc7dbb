"""The planted graph: its counts, the same by seed, and a structure that one can find."""

from pathlib import Path

import numpy as np
import pytest

from benchmarks.planted import Planted, main, planted
from benchmarks.planted_plan import Array
from mohone.data import FolderDataset

N_ENTITIES, N_TRIPLES, N_RELATIONS, HELD_OUT = 20_000, 60_000, 20, 300


@pytest.fixture(scope="module")
def graph() -> Planted:
    return planted(N_ENTITIES, N_TRIPLES, N_RELATIONS, seed=0, held_out=HELD_OUT)


def _all(graph: Planted) -> Array:
    return np.concatenate([graph.train, graph.valid, graph.test])


def test_counts_are_those_asked_for(graph: Planted) -> None:
    assert (len(graph.train), len(graph.valid), len(graph.test)) == (N_TRIPLES, HELD_OUT, HELD_OUT)
    assert len({tuple(triple) for triple in _all(graph).tolist()}) == N_TRIPLES + 2 * HELD_OUT


def test_train_has_every_entity_and_relation(graph: Planted) -> None:
    assert set(graph.train[:, [0, 2]].ravel().tolist()) == set(range(N_ENTITIES))
    assert set(graph.train[:, 1].tolist()) == set(range(N_RELATIONS))


def test_degrees_fall_off_as_a_power_law(graph: Planted) -> None:
    degrees = np.bincount(graph.train[:, [0, 2]].ravel())
    assert degrees.max() > 20 * degrees.mean()
    assert np.median(degrees) <= degrees.mean() / 2


def test_relations_join_types(graph: Planted) -> None:
    head, relation, tail = _all(graph).T
    plan = graph.plan
    assert (plan.types[tail] == plan.range[relation]).all()
    assert (plan.types[head] == plan.domain[relation]).all()


def test_who_knows_communities_answers_much_better_than_popularity(graph: Planted) -> None:
    known = {}
    for head, relation, tail in graph.train.tolist():
        known.setdefault((head, relation), []).append(tail)
    popular, oracle = [], []
    cells = graph.plan.pools()
    for head, relation, tail in graph.test.tolist():
        if graph.plan.first[relation] >= 0 or graph.plan.inverse_of[relation] >= 0:
            continue
        counts = np.bincount(graph.train[graph.train[:, 1] == relation, 2], minlength=N_ENTITIES) * 1.0
        at = np.array([relation]), graph.plan.communities[[head]]
        near = graph.plan.communities == graph.plan.leads_to(*at, cells)[0]
        for scores, ranks in (
            (counts, popular),
            (counts + 1e6 * near * ~graph.plan.everywhere[relation], oracle),
        ):
            scores[[other for other in known.get((head, relation), []) if other != tail]] = -1
            ranks.append(1 + (scores > scores[tail]).sum() + (scores == scores[tail]).sum() / 2 - 0.5)
    mrr = [np.mean(1 / np.array(ranks)) for ranks in (popular, oracle)]
    assert len(oracle) > HELD_OUT / 2
    assert mrr[0] < 0.6 * mrr[1]


def test_inverses_and_compositions_follow_from_others(graph: Planted) -> None:
    plan = graph.plan
    triples = {tuple(triple) for triple in _all(graph).tolist()}
    steps: dict[tuple[int, int], set[int]] = {}
    for head, relation, tail in triples:
        steps.setdefault((head, relation), set()).add(tail)
    n_follow = n_derived = 0
    for head, relation, tail in triples:
        if plan.inverse_of[relation] >= 0:
            n_follow += (tail, int(plan.inverse_of[relation]), head) in triples
        elif plan.first[relation] >= 0:
            between = steps.get((head, int(plan.first[relation])), set())
            n_follow += any(tail in steps.get((one, int(plan.second[relation])), ()) for one in between)
        else:
            continue
        n_derived += 1
    assert n_derived > 0.1 * len(triples)
    assert n_derived - N_RELATIONS < n_follow < n_derived  # Each relation has one that does not.


def test_files_are_the_same_by_seed_and_read_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def written(name: str, seed: int) -> list[bytes]:
        arguments = {"entities": 600, "triples": 2000, "relations": 12, "held-out": 20, "seed": seed}
        flags = [f"--{key}={value}" for key, value in arguments.items()]
        monkeypatch.setattr("sys.argv", ["planted", str(tmp_path / name), *flags])
        main()
        return [(tmp_path / name / f"{split}.txt").read_bytes() for split in ("train", "valid", "test")]

    first = written("a", 1)
    assert first == written("b", 1)
    assert first != written("c", 2)
    assert first[0].splitlines()[0].startswith(b"/m/")
    kg = FolderDataset("planted", str(tmp_path / "a"), store_dir=None).load()
    counts = kg.n_entities, kg.n_relations, len(kg.train), len(kg.valid), len(kg.test)
    assert counts == (600, 12, 2000, 20, 20)


def test_too_few_triples_are_refused() -> None:
    with pytest.raises(ValueError, match=r"two triples an entity at least, but are 1\.5"):
        planted(1000, 1500, 5)
