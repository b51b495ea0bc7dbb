"""What a notebook does beside the usual: odd input, other folders, threads, Hydra of its own."""

import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import mohone
from mohone import split
from mohone.core.errors import ConfigError, DataError, OccupiedError
from mohone.data import KnowledgeGraph

TRIPLES = [(a, r, b) for i, a in enumerate("abcdef") for r in "rs" for b in "abcdef"[i + 1 :]]


class TwiceHead:
    """A data frame of pandas with two columns of one name."""

    columns = ("head", "head", "tail")


def small(folder: Path, seed: int = 0, **settings: Any) -> "mohone.api.model.Model":
    kg = mohone.load(TRIPLES, seed=seed)
    return mohone.fit(kg, dim=4, max_epochs=1, store_dir=str(folder / "store"), progress=False, **settings)


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> "mohone.api.model.Model":
    return small(tmp_path_factory.mktemp("small"))


def test_a_refused_save_leaves_the_folder_as_it_was(model: "mohone.api.model.Model", tmp_path: Path) -> None:
    model.save(tmp_path / "job")
    before = {path: path.read_bytes() for path in (tmp_path / "job").rglob("*") if path.is_file()}
    with pytest.raises(OccupiedError):
        small(tmp_path, seed=1).save(tmp_path / "job")
    assert {path: path.read_bytes() for path in (tmp_path / "job").rglob("*") if path.is_file()} == before
    assert mohone.open_job(tmp_path / "job").evaluate() == model.evaluate()


def test_a_folder_of_somebodys_data_is_not_written_to(
    model: "mohone.api.model.Model", tmp_path: Path
) -> None:
    mine = tmp_path / "project/data/train.txt"
    mine.parent.mkdir(parents=True)
    mine.write_text("mine", encoding="utf-8")
    with pytest.raises(DataError, match="data must be a new or an empty folder"):
        model.save(tmp_path / "project")
    assert mine.read_text(encoding="utf-8") == "mine"
    with pytest.raises(DataError, match="must be a folder, but is a file"):
        model.save(mine)


def test_a_job_that_was_moved_has_its_data_with_it(model: "mohone.api.model.Model", tmp_path: Path) -> None:
    model.save(tmp_path / "here")
    (tmp_path / "here").rename(tmp_path / "there")
    opened = mohone.open_job(tmp_path / "there")
    np.testing.assert_array_equal(opened.vectors, model.vectors)
    assert mohone.open_job(tmp_path / "there", data=tmp_path / "there/data").kg.name == "memory"


def test_integers_ask_as_they_are_loaded(tmp_path: Path) -> None:
    kg = mohone.load([(i, 7, i + 1) for i in range(30)])
    asked = mohone.fit(kg, dim=4, max_epochs=1, store_dir=str(tmp_path))
    assert asked.predict(head=3, relation=7, top=2) == asked.predict(head="3", relation="7", top=2)
    assert asked.neighbors(np.int64(3), top=2) == asked.neighbors("3", top=2)
    for name in (["3"], 3.0, None, True):
        with pytest.raises(DataError, match="A name must be a text or an integer, but is"):
            kg.entities.id_of(name)


@pytest.mark.parametrize("top", [0, -1, 2.5, None])
def test_neighbours_are_counted(model: "mohone.api.model.Model", top: Any) -> None:
    with pytest.raises(ConfigError, match="`top` must be an integer >= 1"):
        model.neighbors("a", top=top)


def test_as_many_answers_as_there_are_need_no_memory_for_more(model: "mohone.api.model.Model") -> None:
    assert len(model.predict(head="a", relation="r", top=10**12, known=True)) == 5
    assert len(model.neighbors("a", top=10**12)["model"]) == 5


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"source": None}, "there must be a list of .* but there is a NoneType"),
        ({"source": [{"head": "a", "relation": "r", "tail": "b"}]}, r"must be \(head, relation, tail\)"),
        ({"source": TwiceHead()}, "names of their own"),
        ({"source": TRIPLES, "header": "maybe"}, "must be true, false or null, but is 'maybe'"),
        ({"source": TRIPLES, "seed": "x"}, "`seed` must be an integer >= 0, but is 'x'"),
        ({"source": TRIPLES, "name": 3}, "`name` must be a text, but is 3"),
        ({"source": "umls", "valid": TRIPLES}, "`valid` and `test` must be left out with 'umls'"),
    ],
)
def test_triples_that_cannot_be_are_told(given: dict[str, Any], sentence: str) -> None:
    with pytest.raises((ConfigError, DataError), match=sentence):
        mohone.load(given.pop("source"), **given)


def test_what_is_none_is_told(model: "mohone.api.model.Model") -> None:
    with pytest.raises(ConfigError, match="`netemb` must be a network embedding, but is none"):
        mohone.embed_network(model.kg, "none")
    with pytest.raises(ConfigError, match="`net` must be an embedding, but is none"):
        mohone.infuse(model, "none")
    with pytest.raises(ConfigError, match="`infusion` must be one, but is none"):
        mohone.infuse(model, "shnb", "none")
    with pytest.raises(ConfigError, match="`seed` must be an integer"):
        model.classify(TRIPLES[:1], seed="a")  # type: ignore[arg-type]


def test_threads_train_one_after_the_other(tmp_path: Path) -> None:
    alone = [small(tmp_path / "alone", lr=lr).vectors for lr in (0.1, 0.2)]
    found: dict[float, np.ndarray] = {}

    def work(lr: float) -> None:
        found[lr] = small(tmp_path / "beside", lr=lr).vectors

    threads = [threading.Thread(target=work, args=(lr,)) for lr in (0.1, 0.2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    np.testing.assert_array_equal(found[0.1], alone[0])
    np.testing.assert_array_equal(found[0.2], alone[1])


def test_a_program_of_its_own_with_hydra_keeps_it(tmp_path: Path) -> None:
    from hydra import compose, initialize_config_dir
    from hydra.core.global_hydra import GlobalHydra

    (tmp_path / "mine.yaml").write_text("a: 1\n", encoding="utf-8")
    with initialize_config_dir(str(tmp_path), version_base="1.3"):
        assert mohone.load("umls").n_entities == 135
        assert compose("mine").a == 1
    assert not GlobalHydra.instance().is_initialized()


def test_arrays_are_settings(umls: KnowledgeGraph) -> None:
    from mohone.api.settings import configure

    given = {"beta": np.array([0, 0.2]), "neighbors": torch.tensor([3, 10])}
    config = configure(umls, mohone.Retrofit(), given)
    assert config["infusion"]["beta"] == [0.0, 0.2]
    assert config["infusion"]["neighbors"] == [3, 10]


def test_weights_come_with_triples_from_memory(tmp_path: Path) -> None:
    weights = np.linspace(0.5, 3, len(TRIPLES))
    kg = mohone.load([*TRIPLES, TRIPLES[0]], weights=[*weights, 9.0])
    by_triple = dict(zip(TRIPLES, [9.0, *weights[1:]], strict=True))
    assert kg.weights is not None
    for (h, r, t), weight in zip(kg.train.tolist(), kg.weights.tolist(), strict=True):
        triple = kg.entities.names[h], kg.relations.names[r], kg.entities.names[t]
        assert weight == pytest.approx(by_triple[triple])
    file = tmp_path / "all.tsv"
    rows = [*zip(TRIPLES, weights.tolist(), strict=True), (TRIPLES[0], 9.0)]
    file.write_text("".join("\t".join([*triple, repr(x)]) + "\n" for triple, x in rows), encoding="utf-8")
    assert split.main([str(file), str(tmp_path / "split"), "--weights"]) == 0
    read = mohone.load(str(tmp_path / "split"), weights=True)
    assert read.fingerprint == kg.fingerprint
    for bad in (weights[1:], [*weights[1:], 0.0], [*weights[1:], float("nan")], "heavy"):
        with pytest.raises(DataError, match="`weights` must be 30 numbers > 0, one for each triple"):
            mohone.load(TRIPLES, weights=bad)
