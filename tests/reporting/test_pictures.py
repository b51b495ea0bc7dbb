"""Figures show what results say; each is read back from its axes."""

import json
from pathlib import Path
from typing import Any

import pytest
import torch

pytest.importorskip("matplotlib")

from mohone.configuration.compose import compose_plain
from mohone.experiment.job import run_job
from mohone.figure import main
from mohone.reporting.pictures.barbell import barbell_figure
from mohone.reporting.pictures.gains import (
    degree_figure,
    distance_figure,
    grid_figure,
    relation_figure,
    scale_figure,
    strength_figure,
)
from mohone.reporting.pictures.maps import map_figure, principal_axes
from tests.experiment.test_loggers import QUIET, read_run
from tests.helpers.commands import TINY
from tests.helpers.graphs import BASE, write_folder
from tests.reporting.made_up import result


def with_details(scale: object = 5.0, **changed: Any) -> dict[str, Any]:
    each = result(**changed)
    each["config"] = {"netemb": {"neighborhood": {"scale": scale}}}
    each["selection"] = {
        "neighbors": 10,
        "beta": 0.2,
        "valid_mrr_baseline": 0.30,
        "grid": [
            {"side": "both", "neighbors": 0, "beta": 0.0, "valid_mrr": 0.30},
            {"side": "both", "neighbors": 3, "beta": 0.2, "valid_mrr": 0.31},
            {"side": "both", "neighbors": 3, "beta": 0.1, "valid_mrr": 0.305},
            {"side": "both", "neighbors": 10, "beta": 0.2, "valid_mrr": 0.32},
        ],
    }
    for which, gain in (("baseline", 0.0), ("infused", 0.01)):
        for setting in ("filtered", "typed"):
            each[which][setting]["degrees"] = {
                "0": None,
                "1": {"mrr": 0.1 + gain, "n_ranked": 7},
                "2-3": {"mrr": 0.2 + 3 * gain, "n_ranked": 9},
            }
    return each


def lines(figure: Any) -> dict[str, list[tuple[float, float]]]:
    (axes,) = figure.axes
    return {
        line.get_label(): [(x, pytest.approx(y)) for x, y in zip(*line.get_data(), strict=True)]
        for line in axes.get_lines()
        if not str(line.get_label()).startswith("_")
    }


def test_the_grid_by_beta() -> None:
    assert lines(grid_figure(with_details())) == {
        "both, 3 neighbours": [(0.1, 0.5), (0.2, 1.0)],
        "both, 10 neighbours": [(0.2, 2.0)],
    }
    assert grid_figure({"selection": None}) is None


def test_gain_by_degree() -> None:
    figure = degree_figure(with_details())
    (axes,) = figure.axes
    heights = [bar.get_height() for bars in axes.containers for bar in bars]
    assert heights == pytest.approx([0.0, 1.0, 3.0] * 2)
    assert [text.get_text() for text in axes.get_xticklabels()] == ["0\n0", "1\n7", "2-3\n9"]
    assert degree_figure({"infused": None}) is None


def test_gain_by_distance() -> None:
    each = with_details()
    assert distance_figure(each) is None  # A result of before.
    for which, gain in (("baseline", 0.0), ("infused", 0.02)):
        for setting, more in (("filtered", gain), ("typed", -gain)):
            each[which][setting]["distances"] = {
                "0": None,
                "1": {"mrr": 0.3 + more, "n_ranked": 5},
                "more": {"mrr": 0.2 - 2 * more, "n_ranked": 1200},
            }
    (axes,) = distance_figure(each).axes
    heights = [bar.get_height() for bars in axes.containers for bar in bars]
    assert heights == pytest.approx([0.0, 2.0, -4.0, 0.0, -2.0, 4.0])
    assert [text.get_text() for text in axes.get_xticklabels()] == ["0\n0", "1\n5", "more\n1,200"]
    assert "between head and tail" in axes.get_xlabel()
    assert distance_figure({"infused": None}) is None


def test_gain_by_relation() -> None:
    """A tenth of the queries that gain 20 points weigh less than a half that gain 6; `same` is not shown."""
    each = with_details()
    assert relation_figure(each) is None  # A result of before.
    long = "x" * 60
    before = {"often": (0.3, 50), "seldom": (0.1, 10), "worse": (0.5, 20), long: (0.4, 10), "same": (0.2, 10)}
    after = {"often": 0.36, "seldom": 0.3, "worse": 0.45, long: 0.41, "same": 0.2}
    for which in ("baseline", "infused"):
        mrr = {name: old if which == "baseline" else after[name] for name, (old, _) in before.items()}
        each[which]["filtered"]["relations"] = {
            name: {"mrr": mrr[name], "n_ranked": n} for name, (_, n) in before.items()
        }
    (axes,) = relation_figure(each).axes
    (bars,) = axes.containers
    assert [bar.get_width() for bar in bars] == pytest.approx([3.0, 2.0, 0.1, -1.0])
    assert [text.get_text() for text in axes.get_yticklabels()] == [
        "often  (+6.0, 50 queries)",
        "seldom  (+20.0, 10 queries)",
        f"…{'x' * 44}  (+1.0, 10 queries)",
        "worse  (-5.0, 20 queries)",
    ]
    (axes,) = relation_figure(each, most=1).axes
    assert [bar.get_width() for bar in axes.containers[0]] == pytest.approx([3.0, -1.0])
    each["infused"] = each["baseline"]
    assert relation_figure(each) is None  # Nothing changed.
    assert relation_figure({"infused": None}) is None


def test_gain_by_scale_and_strength() -> None:
    results = [
        with_details(10.0, before=0.30, after=0.33),
        with_details(1.0, before=0.20, after=0.25),
        with_details(scale=[1.0, 5.0], before=0.1, after=0.2),
        {**result(), "status": "failed"},
    ]
    name = "fb15k237, transe + shnb, paper"
    assert lines(scale_figure(results, "typed")) == {name: [(1.0, 5.0), (10.0, 3.0)]}
    assert lines(strength_figure(results[:2], "typed")) == {
        name: [(pytest.approx(20.0), 5.0), (pytest.approx(30.0), 3.0)]
    }
    assert scale_figure(results[:1], "typed") is None
    seeds = [with_details(1.0, seed=0), with_details(2.0, seed=1)]
    assert set(lines(scale_figure(seeds, "typed"))) == {f"{name}, seed 0", f"{name}, seed 1"}
    for figure in (scale_figure(results, "typed"), scale_figure(seeds, "typed")):
        assert figure.axes[0].get_xlabel() == "scale s"


def test_principal_axes_keep_what_varies_most() -> None:
    torch.manual_seed(0)
    plane = torch.randn(20, 2) * torch.tensor([5.0, 2.0])
    turned = plane @ torch.linalg.qr(torch.randn(6, 6)).Q[:2]
    places = principal_axes(turned)
    torch.testing.assert_close(
        torch.cdist(places, places), torch.cdist(plane, plane).double(), atol=1e-4, rtol=1e-4
    )
    assert principal_axes(torch.ones(3, 1)).shape == (3, 2)


def test_the_map_shows_an_entity_its_neighbours_and_others() -> None:
    torch.manual_seed(0)
    before = torch.randn(12, 5)
    figure = map_figure(before, before + 1, 3, torch.tensor([1, 7]), [f"e{i}" for i in range(12)], n_others=4)
    for axes in figure.axes:
        shown = [text.get_text() for text in axes.texts]
        assert shown[:3] == ["e3", "e1", "e7"]
        assert len(set(shown)) == 7


def test_the_barbell() -> None:
    heat, drawing = barbell_figure(2.0, bell=4, path=3).axes[:2]
    rows = torch.tensor(heat.get_images()[0].get_array())
    assert rows.shape == (11, 11)
    torch.testing.assert_close(rows.sum(1), torch.ones(11))
    assert bool((rows.diff(dim=1) <= 0).all())
    assert [len(points.get_offsets()) for points in drawing.collections] == [6, 2, 3]


def test_a_figure_can_go_to_wandb(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("wandb")
    for name, value in QUIET.items():
        monkeypatch.setenv(name, value)
    assert main(["barbell", "--out", str(tmp_path / "b.png"), "--wandb", "mine"]) == 0
    (path,) = tmp_path.glob("wandb/offline-run-*/*.wandb")
    run = read_run(path)
    assert run["name"] == "barbell"
    assert any(key.startswith("barbell") for row in run["history"] for key in row)
    assert list(path.parent.rglob("barbell*.png"))


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_folder(tmp_path / "D", BASE)
    data = ["dataset=folder", f"dataset.path={tmp_path}/D", f"store_dir={tmp_path}/store"]
    run_job(compose_plain([*TINY, *data, "infusion.beta=[0.2]"]), tmp_path / "job")
    (tmp_path / "labels.tsv").write_text("a\tAn A\n", encoding="utf-8")
    job = str(tmp_path / "job")
    for arguments in (
        ["map", job, "--entity", "An A", "--labels", str(tmp_path / "labels.tsv")],
        ["grid", job],
        ["degree", job],
        ["distance", job],
        ["relation", job],
        ["barbell"],
    ):
        out = tmp_path / f"{arguments[0]}.png"
        assert main([*arguments, "--out", str(out)]) == 0, capsys.readouterr().err
        assert out.read_bytes().startswith(b"\x89PNG")
    assert json.loads((tmp_path / "job/result.json").read_text())["selection"]["beta"] == 0.2
    assert main(["scale", job, "--out", str(tmp_path / "s.png")]) == 1
    assert main(["map", job, "--entity", "nobody", "--out", str(tmp_path / "s.png")]) == 1
    assert main(["grid", str(tmp_path), "--out", str(tmp_path / "s.png")]) == 1
    assert main(["barbell", "--out", str(tmp_path / "s.txt")]) == 1
    result = json.loads((tmp_path / "job/result.json").read_text())
    result["config"]["store_dir"] = None  # As in a copy by `make paper`.
    (tmp_path / "job/result.json").write_text(json.dumps(result))
    assert main(["map", job, "--entity", "An A", "--out", str(tmp_path / "s.png")]) == 1
    said = capsys.readouterr().err
    for sentence in (
        "has none for this figure",
        "knows no `store_dir`",
        "`--entity` must be a name of the data set, but 'nobody' is none",
        "has no result.json",
        "must be one of .png",
    ):
        assert sentence in said
