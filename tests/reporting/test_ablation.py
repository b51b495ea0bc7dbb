"""Tables by experts, whose every figure can be done by hand."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mohone.report import main
from mohone.reporting.ablation import ablation_tables
from mohone.reporting.groups import AmbiguousError
from mohone.reporting.results import RANKS
from tests.reporting.made_up import found, result, written

ALL = "votes heat frequency"


def by_experts(experts: str, after: float, beyond: float | None = None, **changed: Any) -> dict[str, Any]:
    """A result of these experts, from a baseline of 30 points; what is beyond frequency has a star."""
    names = experts.split()
    selection = {"chosen": "evidence", "kept": True, "experts": {name: {} for name in names}}
    stages = {"baseline": {"key": "b", "valid_mrr": 0.1}, "infusion": {"key": experts}}
    each = result(
        **{
            "infusion": "evidence",
            "after": after,
            "selection": selection,
            "stages": stages,
            "control": names == ["frequency"],
            **changed,
        }
    )
    if beyond is not None:
        tests = {"filtered": {metric: {"delta": beyond, "p_value": 0.01} for metric in ("mrr", "hits@10")}}
        figures = {"filtered": {"mrr": 0.31, "hits@10": 0.5}}
        each["parts"] = {"frequency": {"figures": figures, "gain": tests, "beyond": tests}}
    return each


def test_each_choice_of_experts_has_a_row(tmp_path: Path) -> None:
    """What tells no part stands against the job of that part alone, with a star where ranks are beside."""
    results = found(
        tmp_path,
        by_experts("heat", 0.33, p=0.2),
        by_experts("frequency", 0.31),
        by_experts("votes heat", 0.34),
        by_experts(ALL, 0.36, beyond=0.05),
        by_experts("heat frequency", 0.35, beyond=0.04),
        by_experts(
            "votes", 0.30, status="failed", selection=None, config={"infusion": {"experts": ["votes"]}}
        ),
        by_experts("votes frequency", 0.35, beyond=0.03),
        result(),
    )
    ranks = np.random.default_rng(0).integers(2, 50, 400).astype(np.float32)
    for folder, each in (("1", ranks), ("2", ranks - 1)):
        np.savez_compressed(tmp_path / folder / RANKS, **{"infused/filtered": each})
    (table,) = ablation_tables(results)
    assert table.header == ("Experts", "MRR", "Gain", "Beyond frequency")
    assert table.title.endswith("TransE, SHNB, filtered, by experts")
    assert written(table) == [
        ["none", "30.0", "-", "-"],
        ["all: votes, heat, frequency", "36.0*", "+6.0", "+5.0*"],
        ["without votes", "35.0*", "+5.0", "+4.0*"],
        ["without heat", "35.0*", "+5.0", "+3.0*"],
        ["without frequency", "34.0*", "+4.0", "+3.0*"],
        ["votes alone", "failed", "-", "-"],
        ["heat alone", "33.0", "+3.0", "+2.0"],
        ["frequency alone", "31.0*", "+1.0", "-"],
    ]


def test_models_network_embeddings_and_seeds_apart(tmp_path: Path) -> None:
    results = found(
        tmp_path,
        by_experts(ALL, 0.34, seed=0),
        by_experts(ALL, 0.36, seed=1),
        by_experts(ALL, 0.40, model="complex"),
        by_experts("heat", 0.32, netemb="node2vec"),
    )
    tables = ablation_tables(results)
    assert [table.title.split(": ")[1] for table in tables] == [
        "TransE, SHNB, filtered, by experts",
        "TransE, Node2vec, filtered, by experts",
        "ComplEx, SHNB, filtered, by experts",
    ]
    rows = [written(table) for table in tables]
    assert rows[0][1][1:] == ["35.0 ± 1.4*", "+5.0"]  # No part is told of.
    assert rows[1][1] == ["heat alone", "32.0*", "+2.0"]
    assert rows[2][1][1] == "40.0*"


def test_the_same_experts_of_other_settings_cannot_stand_in_one_table(tmp_path: Path) -> None:
    other = by_experts(ALL, 0.37)
    other["stages"]["infusion"]["key"] = "other"
    with pytest.raises(AmbiguousError, match="differ in other settings"):
        ablation_tables(found(tmp_path, by_experts(ALL, 0.36), other))


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found(tmp_path / "in", by_experts(ALL, 0.36), by_experts("heat", 0.33))
    assert main([str(tmp_path / "in"), "--format", "ablation"]) == 0
    assert "| heat alone" in capsys.readouterr().out
    assert main([str(tmp_path / "in"), "--format", "ablation", "--out", str(tmp_path)]) == 0
    assert "| heat alone" in (tmp_path / "ablation.md").read_text(encoding="utf-8")
    found(tmp_path / "none", result())
    capsys.readouterr()
    assert main([str(tmp_path / "none"), "--format", "ablation"]) == 1
    assert "must be results of an infusion by experts" in capsys.readouterr().err
