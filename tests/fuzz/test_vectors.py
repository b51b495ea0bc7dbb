"""Files of vectors, alone and as a model of entities and relations."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from mohone.core.config import build, call
from mohone.core.named_vectors import FORMATS, read_vectors, write_vectors
from mohone.elsewhere import open_source, put
from mohone.experiment.pretrained import Pretrained
from tests.helpers.fuzz import Refused, changed, mutated, outcome, tries
from tests.helpers.graphs import BASE, kg_of

KG = kg_of(BASE)
NAMES = KG.entities.names
VECTORS = torch.linspace(-1, 1, len(NAMES) * 4).view(-1, 4)
NODE = {"_target_": "mohone.kge.TransE", "dim": 4, "norm": 2}


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """A whole file of each format."""
    folder = tmp_path_factory.mktemp("vectors")
    for ending in FORMATS:
        write_vectors(folder / f"v{ending}", NAMES, VECTORS)
    return {ending: (folder / f"v{ending}").read_bytes() for ending in FORMATS}


@pytest.mark.parametrize("ending", FORMATS)
@tries(30)
@given(draw=st.data())
def test_vectors(tmp_path: Path, files: dict[str, bytes], ending: str, draw: st.DataObject) -> None:
    path = tmp_path / f"v{ending}"
    path.write_bytes(draw.draw(mutated(files[ending])))
    read = outcome(lambda: read_vectors(path), path)
    if not isinstance(read, Refused):
        names, vectors = read
        assert isinstance(names, list)
        assert all(isinstance(name, str) for name in names)
        assert (vectors.dtype, vectors.dim(), len(vectors)) == (torch.float32, 2, len(names))
        if ending == ".txt":
            lines = path.read_bytes().decode().split("\n")[1 : len(names) + 1]
            assert [" ".join(line.rstrip(" \r").split(" ")[-vectors.shape[1] :]) for line in lines]
    begun = outcome(lambda: Pretrained(path).read(NAMES), path)
    if isinstance(begun, torch.Tensor):
        assert begun.isfinite().all()
        assert len(begun) == len(NAMES)
        outcome(lambda: Pretrained(path).put(begun, model()), path)


def model() -> Any:
    return call("kge_model", build("kge_model", {**NODE, "_partial_": True}), n_entities=4, n_relations=2)


@pytest.mark.parametrize("ending", FORMATS)
@tries(15)
@given(draw=st.data())
def test_a_model_of_two_files(
    tmp_path: Path, files: dict[str, bytes], ending: str, draw: st.DataObject
) -> None:
    entities, relations = tmp_path / f"e{ending}", tmp_path / f"r{ending}"
    entities.write_bytes(files[ending])
    write_vectors(relations, KG.relations.names, VECTORS[:2])
    bad = draw.draw(st.sampled_from([entities, relations]))
    bad.write_bytes(draw.draw(mutated(bad.read_bytes())))

    def fill() -> Any:
        source = open_source(entities, relations)
        source.settings({**NODE, "_partial_": True})
        filled = model()
        put(source, filled, KG)
        return filled

    filled = outcome(fill, entities, relations)
    if not isinstance(filled, Refused):
        assert all(table.isfinite().all() for table in filled.parameters())


ARRAYS = st.sampled_from(
    [
        np.array(["a", "b"]),
        np.array([b"a", b"b"]),
        np.array([1, 2]),
        np.array("ab"),
        np.array([["a", "b"]]),
        np.array([["a"], ["b"]]),
        np.zeros((2, 3)),
        np.zeros((2, 3), np.float16),
        np.zeros((2, 3), np.int64),
        np.zeros((2, 3), np.uint16),
        np.zeros((2, 3), bool),
        np.zeros((2, 3), complex),
        np.zeros((2, 3), ">f4"),
        np.zeros((2, 3), np.longdouble),
        np.zeros((2, 3), "M8[s]"),
        np.zeros((2, 3), [("x", "f4")]),
        np.zeros((3, 2)).T,
        np.zeros(2),
        np.zeros((0, 3)),
        np.zeros(()),
        np.full((2, 3), 1e300),
    ]
)


@tries(30)
@given(names=ARRAYS, vectors=ARRAYS)
def test_arrays_of_any_type(tmp_path: Path, names: Any, vectors: Any) -> None:
    path = tmp_path / "v.npz"
    np.savez(path, names=names, vectors=vectors)
    read = outcome(lambda: read_vectors(path), path)
    if not isinstance(read, Refused):
        assert read[0] in (["a", "b"], [])  # Of no rows, no name is of another type.
        assert len(read[1]) == len(read[0])
        assert read[1].dtype == torch.float32


@tries(30)
@given(names=changed(["a", "b"]))
def test_names_of_any_type(tmp_path: Path, names: Any) -> None:
    import json

    from safetensors.torch import save_file

    path = tmp_path / "v.safetensors"
    save_file({"vectors": torch.zeros(2, 3)}, path, {"names": json.dumps(names)})
    read = outcome(lambda: read_vectors(path), path)
    if not isinstance(read, Refused):
        assert all(isinstance(name, str) for name in read[0])
        assert len(read[0]) == 2
