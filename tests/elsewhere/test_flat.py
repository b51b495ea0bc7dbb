"""A model in two files of vectors: rows by name, tables side by side, in and out again."""

from pathlib import Path

import numpy as np
import pytest
import torch

from mohone.core.errors import DataError
from mohone.core.named_vectors import read_vectors, write_vectors
from mohone.data import KnowledgeGraph, from_triples
from mohone.elsewhere import open_source, put, taken_back
from mohone.elsewhere.flat import write_model
from mohone.kge import RESCAL, ComplEx, DistMult, KGEModel, TransD, TransH
from tests.helpers.graphs import BASE, kg_of

ENTITIES, RELATIONS = ("c", "x", "d", "b", "a"), ("s", "q", "r")


@pytest.fixture(scope="module")
def kg() -> KnowledgeGraph:
    return kg_of(BASE)


def files(folder: Path, width: int, wide: int, ending: str = ".npz") -> tuple[Path, Path]:
    """Vectors `[10 i, 10 i + 1, ...]` of the names in their order."""
    paths = folder / f"e{ending}", folder / f"r{ending}"
    for path, names, columns in zip(paths, (ENTITIES, RELATIONS), (width, wide), strict=True):
        rows = torch.arange(len(names))[:, None] * 10.0 + torch.arange(columns) / 8
        write_vectors(path, names, rows)
    return paths


@pytest.mark.parametrize("ending", [".npz", ".safetensors", ".txt"])
def test_tables_are_cut_out_of_rows_by_name(kg: KnowledgeGraph, tmp_path: Path, ending: str) -> None:
    source = open_source(*files(tmp_path, 4, 4, ending))
    model = TransD(4, 2, 2)
    put(source, model, kg)
    assert model.entity.tolist() == [[40, 40.125], [30, 30.125], [0, 0.125], [20, 20.125]]
    assert model.entity_projection.tolist() == [
        [40.25, 40.375],
        [30.25, 30.375],
        [0.25, 0.375],
        [20.25, 20.375],
    ]
    assert model.relation.tolist() == [[20, 20.125], [0, 0.125]]
    assert model.relation_projection.tolist() == [[20.25, 20.375], [0.25, 0.375]]
    with torch.no_grad():
        for table in model.parameters():
            table.add_(100)
    source.write(tmp_path / "out", taken_back(source, model, kg))
    names, vectors = read_vectors(tmp_path / f"out/e{ending}")
    before = read_vectors(tmp_path / f"e{ending}")[1]
    assert names == list(ENTITIES)
    assert torch.equal(vectors, before + torch.tensor([100, 0, 100, 100, 100])[:, None])
    names, vectors = read_vectors(tmp_path / f"out/r{ending}")
    before = read_vectors(tmp_path / f"r{ending}")[1]
    assert names == list(RELATIONS)
    assert torch.equal(vectors, before + torch.tensor([100, 0, 100])[:, None])


def test_inverse_relations_have_rows_of_their_own(kg: KnowledgeGraph, tmp_path: Path) -> None:
    e, r = files(tmp_path, 2, 2)
    names = ["r_inverse", "s", "r", "s_inverse"]
    write_vectors(r, names, torch.arange(8.0).view(4, 2))
    source = open_source(e, r)
    assert source.settings({"_target_": "mohone.kge.DistMult", "_partial_": True}) == {
        "dim": 2,
        "reciprocal": True,
    }
    model = DistMult(4, 2, 2, reciprocal=True)
    put(source, model, kg)
    assert model.relation.tolist() == [[4, 5], [2, 3], [0, 1], [6, 7]]
    with torch.no_grad():
        model.relation[2] = 9  # The inverse of r.
    source.write(tmp_path / "out", taken_back(source, model, kg))
    assert read_vectors(tmp_path / "out/r.npz")[0] == names
    assert read_vectors(tmp_path / "out/r.npz")[1].tolist() == [[9, 9], [2, 3], [4, 5], [6, 7]]


def test_where_some_relations_have_inverses_all_count_for_themselves(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    e, r = files(tmp_path, 2, 2)
    write_vectors(r, ["r_inverse", "s", "r"], torch.arange(6.0).view(3, 2))
    assert not open_source(e, r).reciprocal
    assert (
        "1 of 2 relations have an inverse (r_inverse), which are then relations of their own" in caplog.text
    )


@pytest.mark.parametrize("ending", [".npz", ".txt"])
@pytest.mark.parametrize("reciprocal", [False, True])
@pytest.mark.parametrize("kind", [ComplEx, TransD, RESCAL])
def test_a_model_that_is_written_is_read_again(
    tmp_path: Path, kind: type[KGEModel], reciprocal: bool, ending: str
) -> None:
    """Also of names with blanks, which the text has as `_`."""
    one = [("New York", "is in", "U.S.")]
    kg = from_triples([("U.S.", "is", "New Jersey"), *one], one, one)
    model, again = (kind(kg.n_entities, kg.n_relations, 2, reciprocal=reciprocal) for _ in range(2))
    paths = tmp_path / f"e{ending}", tmp_path / f"r{ending}"
    write_model(model, kg, *paths)
    source = open_source(*paths)
    assert source.reciprocal == reciprocal
    put(source, again, kg)
    for name, table in model.state_dict().items():
        assert torch.equal(again.state_dict()[name], table)


def test_complex_numbers_are_read_real_parts_first(kg: KnowledgeGraph, tmp_path: Path) -> None:
    for name, names in (("e", ENTITIES), ("r", RELATIONS)):
        rows = torch.arange(len(names))[:, None] + torch.tensor([[0.25 + 0.5j, 0.125j]])
        np.savez(tmp_path / f"{name}.npz", names=np.array(names), vectors=rows.numpy())
    model = ComplEx(4, 2, 2)
    put(open_source(tmp_path / "e.npz", tmp_path / "r.npz"), model, kg)
    assert model.entity[2].tolist() == [0.25, 0, 0.5, 0.125]


def test_what_train_lacks_gets_the_mean(tmp_path: Path) -> None:
    """`e` is in valid alone, and the files have no row for it."""
    kg = kg_of({**BASE, "valid": ["a r e"]})
    source = open_source(*files(tmp_path, 2, 2))
    model = DistMult(5, 2, 2)
    put(source, model, kg)
    assert model.entity[4].tolist() == [20, 20.125]
    assert len(taken_back(source, model, kg).entity["entity"]) == 5


@pytest.mark.parametrize(
    ("model", "width", "wide", "message"),
    [
        (
            TransH(4, 2, 2),
            2,
            3,
            "rows of 4 numbers for this model (2 of `relation` and 2 of `normal`), but has them of 3.",
        ),
        (DistMult(4, 2, 2), 3, 2, "rows of 2 numbers for this model (2 of `entity`), but has them of 3."),
        (RESCAL(4, 2, 3), 3, 3, "rows of 9 numbers for this model"),
    ],
)
def test_rows_of_another_width_are_refused(
    kg: KnowledgeGraph, tmp_path: Path, model: KGEModel, width: int, wide: int, message: str
) -> None:
    with pytest.raises(DataError) as refused:
        put(open_source(*files(tmp_path, width, wide)), model, kg)
    assert message in str(refused.value)


def test_names_that_do_not_match_are_refused(kg: KnowledgeGraph, tmp_path: Path) -> None:
    e, r = files(tmp_path, 2, 2)
    model = DistMult(4, 2, 2)
    write_vectors(r, ["r", "t"], torch.ones(2, 2))
    with pytest.raises(
        DataError, match=r"must have a vector for each relation of train, but has none for 's'\."
    ):
        put(open_source(e, r), model, kg)
    write_vectors(r, ["r", "s", "r"], torch.ones(3, 2))
    with pytest.raises(DataError, match=r"must have one vector for each relation, but has several for 'r'\."):
        put(open_source(e, r), model, kg)
    write_vectors(r, ["r", "s"], torch.ones(2, 2))
    write_vectors(e, ["a", "b"], torch.ones(2, 2))
    with pytest.raises(DataError, match=r"for each entity of train, but has none for 'c' and 1 other\."):
        put(open_source(e, r), model, kg)
    write_vectors(e, ["a", "b", "c", "d"], torch.full((4, 2), float("nan")))
    with pytest.raises(DataError, match=r"must have finite numbers, but its table `entity` has others\."):
        put(open_source(e, r), model, kg)
    for path in (tmp_path / "none.npz", tmp_path / "empty"):
        (tmp_path / "empty").mkdir(exist_ok=True)
        with pytest.raises(DataError, match=str(path)):
            open_source(path)
    with pytest.raises(DataError, match="Vectors of relations must be left out beside"):
        open_source(tmp_path, r)
