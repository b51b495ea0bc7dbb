"""Folders that PyKEEN wrote (`scripts/pykeen_folders.py`): its scores are ours, and ours get back there."""

import json
import zipfile
from pathlib import Path
from typing import Any

import pytest
import torch
from omegaconf import OmegaConf

from mohone.configuration.recipes import CONF
from mohone.core.config import build
from mohone.core.torch_file import read_torch_file
from mohone.data import KnowledgeGraph
from mohone.elsewhere import open_source, put, taken_back
from mohone.elsewhere.pykeen import PyKEENFolder
from mohone.kge import KGEModel
from tests.helpers.graphs import kg_of

FOLDERS = Path(__file__).parent / "pykeen"
KNOWN = sorted(path.name for path in FOLDERS.iterdir() if path.name != "rotate")
LINES = {"train": ["01 r 1", "1 r é", "é s NA"], "valid": ["NA r 01"], "test": ["1 s é"]}


@pytest.fixture(scope="module")
def kg() -> KnowledgeGraph:
    """Names of the folders in another order, without `c "c"`, which only the folders have."""
    return kg_of(LINES)


def model_of(source: PyKEENFolder, kg: KnowledgeGraph) -> KGEModel:
    node: Any = OmegaConf.to_container(OmegaConf.load(CONF / f"kge_model/{source.kge_model}.yaml"))
    made = build("kge_model", {**node, "dim": 1, **source.settings({})})
    model: KGEModel = made(n_entities=kg.n_entities, n_relations=kg.n_relations)
    put(source, model, kg)
    return model


def opened(name: str) -> PyKEENFolder:
    source = open_source(FOLDERS / name)
    assert isinstance(source, PyKEENFolder)
    return source


@pytest.mark.parametrize("name", KNOWN)
def test_scores_are_pykeens(name: str, kg: KnowledgeGraph) -> None:
    source = opened(name)
    assert source.entities == ["01", "1", "NA", 'c "c"', "é"]
    model = model_of(source, kg)
    scores = json.loads((FOLDERS / name / "scores.json").read_text())
    rows = torch.tensor([source.entities.index(name) for name in kg.entities.names])
    tails = torch.tensor(scores["tails"])[rows][:, :, rows]
    heads = torch.tensor(scores["heads"])[:, rows][:, :, rows]
    pairs = torch.cartesian_prod(torch.arange(4), torch.arange(2))
    with torch.no_grad():
        ours = model.score_tails(pairs[:, 0], pairs[:, 1]).view(4, 2, 4)
        torch.testing.assert_close(ours, tails, atol=2e-5, rtol=1e-5)
        ours = model.score_heads(pairs[:, 1], pairs[:, 0]).view(4, 2, 4).transpose(0, 1)
        torch.testing.assert_close(ours, heads, atol=2e-5, rtol=1e-5)
    assert tails.std() > 0.01


@pytest.mark.parametrize("name", KNOWN)
def test_what_is_written_is_the_folder_with_other_numbers(
    name: str, kg: KnowledgeGraph, tmp_path: Path
) -> None:
    source = opened(name)
    model = model_of(source, kg)
    same, moved = tmp_path / "same", tmp_path / "moved"
    source.write(same, taken_back(source, model, kg))
    before, after = read_torch_file(FOLDERS / name / "trained_model.pkl"), same / "trained_model.pkl"
    assert records(after) == records(before.path)
    with torch.no_grad():
        for table in model.parameters():
            table.add_(1.0)
    source.write(moved, taken_back(source, model, kg))
    assert {path.name for path in moved.rglob("*")} == {path.name for path in (FOLDERS / name).rglob("*")}
    again = open_source(moved)
    other = model_of(again, kg)  # type: ignore[arg-type]
    for table, now in zip(model.parameters(), other.parameters(), strict=True):
        torch.testing.assert_close(now, table)
    for table, first in zip(again.vectors(), source.vectors(), strict=True):
        assert torch.equal(table[3], first[3])  # Of no entity of the data set.
        assert not torch.equal(table[2], first[2])


def records(path: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def test_torch_reads_what_is_written_where_the_pickle_names_no_class_of_pykeen(tmp_path: Path) -> None:
    first = {"weight": torch.nn.Parameter(torch.arange(6.0).view(2, 3)), "other": torch.ones(2).double()}
    torch.save(first, tmp_path / "a.pt")
    file = read_torch_file(tmp_path / "a.pt")
    assert torch.equal(file.tensor(file.content["weight"]), first["weight"])
    file.copy(tmp_path / "b.pt", {file.content["weight"]: torch.zeros(2, 3)})
    for mapped in (False, True):
        again = torch.load(tmp_path / "b.pt", weights_only=True, mmap=mapped)
        assert torch.equal(again["weight"], torch.zeros(2, 3))
        assert torch.equal(again["other"], first["other"])
