"""The verbs do what the commands do, and leave the caller's things alone."""

import importlib
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import mohone
from mohone.core.errors import ConfigError, DataError
from mohone.data import kept
from tests.helpers import commands
from tests.helpers.graphs import BASE, write_folder

FIT = {"dim": 4, "max_epochs": 2, "validate_every": 1}
EMBED = {"dim": 4, "min_steps": 5, "min_epochs": 1}
INFUSE: dict[str, Any] = {"neighbors": [1, 2], "beta": [0, 0.2], "retrain_epochs": 1}


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("api")


@pytest.fixture(scope="module")
def base(here: Path) -> "mohone.api.model.Model":
    return mohone.fit(mohone.load("umls"), "transe", store_dir=here / "store", **FIT)


@pytest.fixture(scope="module")
def net(here: Path) -> "mohone.api.network.NetworkVectors":
    return mohone.embed_network(mohone.load("umls"), "shnb", store_dir=here / "store", **EMBED)


@pytest.fixture(scope="module")
def infused(
    base: "mohone.api.model.Model", net: "mohone.api.network.NetworkVectors"
) -> "mohone.api.model.Model":
    return mohone.infuse(base, net, **INFUSE)


def test_it_is_what_the_command_makes(infused: "mohone.api.model.Model", here: Path) -> None:
    done = commands.mohone(here, *commands.TINY, "store_dir=store", "hydra.run.dir=typed")
    assert not done.returncode, done.stderr
    (typed,) = commands.results(here / "typed")
    assert sorted(typed["reused"]) == ["baseline", "infusion", "netemb"]
    figures = infused.evaluate()
    assert figures["filtered"] == typed["infused"]["filtered"]
    assert figures["baseline"]["typed"] == typed["baseline"]["typed"]
    assert figures["significance"] == typed["significance"]
    assert infused.baseline.evaluate() == typed["baseline"]
    opened = mohone.open_job(here / "typed")
    assert opened.evaluate()["filtered"] == figures["filtered"]
    np.testing.assert_array_equal(opened.vectors, infused.vectors)
    np.testing.assert_array_equal(opened.baseline.vectors, infused.baseline.vectors)


def test_what_is_saved_is_a_job_of_the_commands(infused: "mohone.api.model.Model", here: Path) -> None:
    infused.save(here / "mine")
    result = json.loads((here / "mine/result.json").read_text())
    assert result["infused"]["filtered"] == infused.evaluate()["filtered"]
    shown = commands.mohone(
        here, "mine", "--relation", "treats", "--tail", "disease_or_syndrome", module="mohone.predict"
    )
    (first, *_) = infused.predict(relation="treats", tail="disease_or_syndrome")
    assert shown.stdout.startswith(f"{first.name}\t{first.score:.4f}")
    infused.save(here / "mine")  # The same again changes nothing.
    assert json.loads((here / "mine/result.json").read_text()) == result
    infused.export(here / "vectors.npz")
    stored = np.load(here / "vectors.npz")
    np.testing.assert_array_equal(stored["vectors"], infused.vectors)


def test_validation_is_ranked_too(base: "mohone.api.model.Model") -> None:
    noted = base._job.runner.run(base._job.runner.baseline).notes["valid_mrr"]
    assert base.evaluate("valid")["filtered"]["mrr"] == pytest.approx(noted, abs=1e-6)
    with pytest.raises(ConfigError, match="split"):
        base.evaluate("train")


def test_what_does_not_belong_together_is_refused(
    base: "mohone.api.model.Model", infused: "mohone.api.model.Model", here: Path
) -> None:
    other = mohone.embed_network(base.kg, store_dir=here / "store", seed=1, **EMBED)
    with pytest.raises(ConfigError, match="`seed` is 1 there, 0 here"):
        mohone.infuse(base, other)
    with pytest.raises(ConfigError, match="was not infused"):
        mohone.infuse(infused, other)
    with pytest.raises(DataError, match=r"'Treats' must be a name .* \(there is 'treats'"):
        base.predict(head="hormone", relation="Treats")
    with pytest.raises(ConfigError, match="Two of `head`, `relation` and `tail`"):
        base.predict(relation="treats")


def test_random_numbers_of_the_caller_stay_his(here: Path) -> None:
    torch.manual_seed(3)
    np.random.seed(3)  # noqa: NPY002
    before = torch.get_rng_state(), np.random.get_state()[1].copy()  # type: ignore[index]  # noqa: NPY002
    mohone.fit(mohone.load("umls"), "distmult", store_dir=here / "store", **FIT)
    assert torch.equal(torch.get_rng_state(), before[0])
    assert (np.random.get_state()[1] == before[1]).all()  # type: ignore[index]  # noqa: NPY002


def test_the_verb_stays_one_where_the_command_of_its_name_was_imported(
    base: "mohone.api.model.Model",
    net: "mohone.api.network.NetworkVectors",
    infused: "mohone.api.model.Model",
) -> None:
    importlib.import_module("mohone.infuse")
    assert mohone.infuse(base, net, **INFUSE).evaluate() == infused.evaluate()


def test_importing_is_light() -> None:
    program = "import sys, mohone; print(sorted({'torch', 'numpy', 'hydra', 'logging'} & set(sys.modules)))"
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert ran.stdout == "[]\n"
    assert set(mohone.__all__) <= set(dir(mohone))
    for name in mohone.__all__:
        assert callable(getattr(mohone, name))


def test_a_folder_means_the_same_from_wherever_it_was_read(
    base_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(base_folder.parent)
    kg = mohone.load(base_folder.name, name="tiny")
    assert repr(kg) == "<tiny: 4 entities, 2 relations, 6 + 1 + 1 triples>"
    os.chdir("/")
    assert f"dataset.path='{base_folder}'" in kg.origin


def test_neighbours_and_verdicts_are_those_of_the_commands(
    infused: "mohone.api.model.Model", here: Path
) -> None:
    infused.save(here / "mine")
    shown = commands.mohone(here, "mine", "hormone", "--top", "3", module="mohone.neighbors")
    header, *rows = (line.split("\t") for line in shown.stdout.splitlines())
    found = infused.neighbors("hormone", top=3)
    for space, near in found.items():
        column = header.index(space)
        assert [row[column] for row in rows] == [each.name for each in near]
        assert [row[column + 1] for row in rows] == [f"{each.closeness:.3f}" for each in near]
    known = [("hormone", "affects", "disease_or_syndrome"), ("drug_delivery_device", "treats", "hormone")]
    (here / "asked.tsv").write_text("".join("\t".join(each) + "\n" for each in known))
    said = commands.mohone(here, "mine", "--triples", "asked.tsv", module="mohone.classify").stdout
    verdicts = infused.classify(known)
    for line, verdict in zip(said.splitlines()[-2:], verdicts, strict=True):
        assert f"{verdict.probability:.4f}" in line


LOADS = """
import logging, sys, mohone
kg = mohone.load(sys.argv[1], name="leaky")
mohone.load([("a", "r", "b")], valid=[("b", "r", "a")], test=[("a", "r", "b")], name="listed")
assert logging.root.handlers == [] and logging.root.level == logging.WARNING
"""


def test_what_looks_wrong_in_data_is_logged_once_a_load(tmp_path: Path) -> None:
    """A program that has configured nothing sees it."""
    folder = write_folder(tmp_path, {**BASE, "test": BASE["train"][:1]})
    command = [sys.executable, "-c", LOADS, str(folder)]
    ran = subprocess.run(command, capture_output=True, text=True, check=True)
    told = "1 of 1 test triple (100.0%) stands in train, too: a model has seen these answers"
    lines = [line for line in ran.stderr.splitlines() if told in line]
    assert [line.partition(":")[0] for line in lines] == ["leaky", "listed"]


def test_a_kept_graph_logs_it_too_and_a_sound_one_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(kept, "THRESHOLD", 1)
    mohone.load("umls")
    assert caplog.records == []
    folder = write_folder(tmp_path / "data", {**BASE, "valid": BASE["test"]})
    for times in (1, 2):
        kg = mohone.load(folder, store_dir=str(tmp_path / "store"))
        assert caplog.messages == [f"data: {warning}" for warning in kg.report.warnings] * times
        assert {record.levelname for record in caplog.records} == {"WARNING"}


def test_vectors_are_not_for_writing(
    infused: "mohone.api.model.Model", net: "mohone.api.network.NetworkVectors"
) -> None:
    for vectors in (infused.vectors, net.vectors):
        with pytest.raises(ValueError, match="read-only"):
            vectors[:] = 0
    assert infused.module.entity_vectors.abs().sum() > 0


def test_what_is_no_path_is_said() -> None:
    with pytest.raises(TypeError, match="`folder` must be a path, but is a NoneType"):
        mohone.open_job(None)  # type: ignore[arg-type]


@pytest.mark.parametrize("key", ["weights", "share", "seed"])
def test_what_is_of_memory_alone_is_refused_with_a_name(key: str) -> None:
    with pytest.raises(ConfigError, match=f"`{key}` must be left out with 'umls', for it is of triples from"):
        mohone.load("umls", **{key: [1.0]})


def test_what_is_no_key_of_triples_in_memory_is_said() -> None:
    with pytest.raises(ConfigError, match=r"`delimiter` must be one of .* for triples from memory"):
        mohone.load([("a", "r", "b")], delimiter=",")
    with pytest.raises(ConfigError, match="`dimm` must be one of dim, ") as raised:
        mohone.fit(mohone.load("umls"), "transe", dimm=4)
    assert str(raised.value).count(" dim,") == 1
