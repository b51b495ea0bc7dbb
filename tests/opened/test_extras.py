"""What a page shows of finished jobs: commands that make them again, wins and losses; nothing is trained."""

import json
import re
import shlex
from pathlib import Path

import numpy as np
import pytest
import torch

from mohone.configuration.compose import compose_plain
from mohone.core.errors import DataError
from mohone.evaluation.one_rank import filtered_rank
from mohone.experiment.job import run_job
from mohone.opened.changes import changes_of
from mohone.opened.command import command_of
from mohone.opened.extras import extras_of
from mohone.opened.finished import open_job
from mohone.reporting.results import read_results
from mohone.show import main
from tests.helpers.commands import TINY
from tests.helpers.graphs import BASE, write_folder


def job(tmp_path: Path, name: str, *settings: str) -> Path:
    """A tiny job that has ended."""
    data = tmp_path / "data"
    if not data.exists():
        write_folder(data, BASE)
    config = compose_plain(
        [
            "dataset=folder",
            f"dataset.path={data}",
            f"store_dir={tmp_path / 'store'}",
            "progress=false",
            *settings,
        ]
    )
    run_job(config, tmp_path / name)
    return tmp_path / name


@pytest.mark.parametrize(
    "settings",
    [
        ["training.schedule=linear", "~training.fit.patience", "+trainer.more=[x,null]"],
        ["kge_model=complex", "netemb=struct", "seed=3"],
        ["infusion.beta=[0,0.4]", "training.optimizer.lr=0.5", "netemb=none"],
        ["training.scheduler=null", "infusion=none", "dataset=folder", "dataset.path=/a b/it's"],
        ["callbacks=[{_target_: a.B, word: 'true'}]", "recipe=strong", "training=one_vs_all"],
    ],
)
def test_a_command_composes_the_configuration_again(settings: list[str]) -> None:
    quoted = [each.replace("/a b/it's", r"'/a b/it\'s'") for each in settings]
    config = compose_plain(quoted)
    command, lacks = command_of({"config": config})
    assert not lacks
    first, *typed = shlex.split(command.removeprefix("python -m "))
    assert first == "mohone.run"
    assert compose_plain(typed) == config


def test_usual_choices_are_not_typed() -> None:
    assert command_of({"config": compose_plain([])}) == ("python -m mohone.run", "")
    config = compose_plain(["infusion=evidence"])
    assert command_of({"config": config})[0] == "python -m mohone.run infusion=evidence"


def test_what_cannot_be_composed_here_is_named_and_said() -> None:
    config = compose_plain([])
    config["choices"] |= {"kge_model": "mine"}
    command, lacks = command_of({"config": config, "seed": 0})
    assert "kge_model=mine" in command
    assert "cannot be composed here" in lacks


def test_wins_and_losses_are_those_of_the_ranks(tmp_path: Path) -> None:
    folder = job(tmp_path, "job", *TINY, "infusion.beta=0.9")
    wins, losses = changes_of(folder, most=3)
    opened = open_job(folder, train=False)
    kg = opened.kg
    gains = []
    for side in ("tail", "head"):
        for triple in kg.test.tolist():
            before, after = (filtered_rank(m, kg, side, triple) for m in (opened.baseline, opened.model))
            gains.append((1 / after - 1 / before, before, after))
    expected = [gain for gain in sorted(gains, key=lambda gain: -gain[0]) if gain[0] > 0][:3]
    assert [(each.before, each.after) for each in wins] == [gain[1:] for gain in expected]
    lost = [gain for gain in sorted(gains, key=lambda gain: gain[0]) if gain[0] < 0][:3]
    assert [1 / each.after - 1 / each.before for each in losses] == pytest.approx([gain[0] for gain in lost])
    for change in [*wins, *losses]:
        ids = [kg.entities.ids[change.head], kg.relations.ids[change.relation], kg.entities.ids[change.tail]]
        assert (kg.test == torch.tensor(ids)).all(1).any()
        assert filtered_rank(opened.model, kg, change.side, (ids[0], ids[1], ids[2])) == change.after


def test_reasons_of_evidence_are_told(tmp_path: Path) -> None:
    folder = job(tmp_path, "job", "infusion=evidence", "infusion.neighbors=2", *TINY[:5])
    with np.load(folder / "ranks.npz") as arrays:
        ranks = {name: arrays[name] for name in arrays.files}
    ranks["baseline/filtered"] = ranks["infused/filtered"] + 1
    np.savez(folder / "ranks.npz", **ranks)
    wins, losses = changes_of(folder, most=1)
    assert losses == []
    assert any("the model" in reason for reason in wins[0].reasons)


def test_a_job_whose_store_is_gone_is_not_trained_again(tmp_path: Path) -> None:
    folder = job(tmp_path, "job", *TINY, "infusion.beta=0.9")
    kept = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*") if path.is_file()}
    changes_of(folder, most=1)
    assert kept == {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*") if path.is_file()}
    (tmp_path / "store").rename(tmp_path / "elsewhere")
    with pytest.raises(DataError, match="must be the trained"):
        changes_of(folder, most=1)
    extras = extras_of(read_results([folder]), 1)[folder]
    assert re.match("Left out: .* must be the trained", extras.left_out)
    assert not extras.curves
    assert not (tmp_path / "store").exists()


def test_the_command_writes_a_page_with_all_of_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    job(tmp_path, "sweep/0", *TINY, "netemb.min_epochs=3")
    job(tmp_path, "sweep/1", *TINY[:5], "infusion=none")
    assert main([str(tmp_path / "sweep"), "--out", str(tmp_path / "page.html")]) == 0
    assert capsys.readouterr().out == f"{tmp_path / 'page.html'}\n"
    html = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "baseline: validation MRR" in html
    assert "netemb: loss" in html
    assert "in train" in html
    assert "must be a job with an infusion for wins and losses, but has none" in html


def test_copies_are_shown_without_what_they_have_not(tmp_path: Path) -> None:
    folder = job(tmp_path, "job", *TINY)
    result = json.loads((folder / "result.json").read_text(encoding="utf-8"))
    result["config"]["store_dir"] = None
    (tmp_path / "copy").mkdir()
    (tmp_path / "copy/result.json").write_text(json.dumps(result), encoding="utf-8")
    assert main([str(tmp_path / "copy")]) == 0
    html = (tmp_path / "copy/page.html").read_text(encoding="utf-8")
    assert "this is a copy of its result alone" in html


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["nowhere"], "nowhere must be a folder of results, but is none."),
        (["."], "There must be results below ., but are none."),
        ([".", "--open", "-1"], "`--open` must be an integer >= 0, but is -1."),
    ],
)
def test_what_cannot_be_shown_is_said_in_a_sentence(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    arguments: list[str],
    sentence: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(arguments) == 1
    assert capsys.readouterr().err == f"{sentence}\n"
