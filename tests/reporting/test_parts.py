"""Tables of gains in parts, whose every figure can be done by hand."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mohone.reporting.formats import to_latex, to_markdown
from mohone.reporting.groups import group_results
from mohone.reporting.parts import parts_tables
from mohone.reporting.results import RANKS
from mohone.reporting.tables import main_table, tables_of
from tests.reporting.made_up import found, result, written


def told_in_parts(p_beyond: float = 0.001, **changed: Any) -> dict[str, Any]:
    each = result(**{"infusion": "evidence", "before": 0.30, "after": 0.36, "p": 0.001, **changed})

    def test(delta: float, p: float) -> dict[str, Any]:
        return {"filtered": {metric: {"delta": delta, "p_value": p} for metric in ("mrr", "hits@10")}}

    figures = {"filtered": {"mrr": 0.32, "hits@10": 0.5}}
    each["parts"] = {
        "frequency": {"figures": figures, "gain": test(0.02, 0.01), "beyond": test(0.04, p_beyond)}
    }
    return each


def test_a_gain_is_told_in_parts(tmp_path: Path) -> None:
    results = found(
        tmp_path, told_in_parts(0.001), told_in_parts(0.5, model="complex"), result(model="rescal")
    )
    (group,) = group_results(results)
    (table,) = parts_tables(group)
    assert table.header == (
        "Model",
        "Baseline",
        "frequency alone",
        "+SHNB (evidence)",
        "Gain",
        "Beyond frequency",
    )
    assert written(table) == [
        ["TransE", "30.0", "32.0*", "36.0*", "+6.0", "+4.0*"],
        ["ComplEx", "30.0", "32.0*", "36.0*", "+6.0", "+4.0"],
    ]


def test_each_way_of_finding_neighbours_stands_in_one_table(tmp_path: Path) -> None:
    """Of both metrics; ComplEx has failed with SHNB, and was never run otherwise."""
    results = found(
        tmp_path,
        result(after=0.32, p=0.5),
        told_in_parts(),
        told_in_parts(netemb="node2vec", after=0.35, p=0.2),
        told_in_parts(infusion="evidence_random", after=0.33, control=True),
        told_in_parts(netemb="node2vec", infusion="evidence_random", after=0.33, control=True),
        result("complex", infusion="evidence", status="failed", error="E"),
        told_in_parts(model="rescal", netemb="node2vec", after=0.34),
        result("rescal", infusion="evidence", status="failed", error="E"),
    )
    (group,) = group_results(results)
    (mrr,), (hits,) = parts_tables(group), parts_tables(group, "hits@10")
    assert mrr.header == (
        *("Model", "Baseline", "+SHNB", "frequency alone", "+SHNB (evidence)", "+Node2vec (evidence)"),
        *("+random neighbours", "Gain", "Beyond frequency"),
    )
    assert written(mrr) == [
        ["TransE", "30.0", "32.0", "32.0*", "36.0*", "35.0", "33.0*", "+6.0", "+4.0*"],
        ["RESCAL", "30.0", "-", "32.0*", "failed", "34.0*", "-", "-", "-"],
    ]
    assert written(hits)[0] == ["TransE", "60.0", "64.0", "50.0*", "72.0*", "70.0", "66.0*", "+12.0", "+4.0*"]
    assert "‡" not in mrr.note  # Without ranks nobody knows.
    whole = written(parts_tables(group, whole=True)[0])
    assert [row[0] for row in whole] == [
        *("TransE", "TransH", "TransR", "TransD", "RESCAL", "DistMult", "ComplEx", "Analogy"),
    ]
    assert whole[1][1:] == ["-"] * 8
    assert whole[6][4] == "failed"


def test_a_mark_tells_what_is_above_the_retrofitted(tmp_path: Path) -> None:
    results = [
        result(after=0.32),
        told_in_parts(),
        result("rescal", after=0.35),
        told_in_parts(model="rescal"),
    ]
    (group,) = group_results(found(tmp_path, *results))
    ranks = np.random.default_rng(0).integers(2, 50, 400).astype(np.float32)
    for folder, each in (("0", ranks), ("1", ranks - 1), ("2", ranks - 1), ("3", ranks)):
        np.savez_compressed(tmp_path / folder / RANKS, **{"infused/filtered": each})
    (table,) = parts_tables(group)
    assert [row[4] for row in written(table)] == ["36.0*‡", "36.0*"]
    assert "‡: better than the retrofitted model" in table.note
    assert r"36.0$^{\star}$$^{\ddagger}$" in to_latex([table])
    assert table.note in to_markdown([table])


def test_seeds_have_a_mean_and_a_star_beyond_if_all_are_significant(tmp_path: Path) -> None:
    seeds = [told_in_parts(after=0.36, seed=0), told_in_parts(0.3, after=0.40, seed=1)]
    seeds[1]["parts"]["frequency"]["beyond"]["filtered"]["mrr"]["delta"] = 0.06
    (group,) = group_results(found(tmp_path, *seeds))
    assert written(parts_tables(group)[0])[0][-3:] == ["38.0 ± 2.8*", "+8.0", "+5.0"]


def test_all_tables_have_it_and_the_main_one_leaves_it_to_that(tmp_path: Path) -> None:
    """Nothing retrofitted: then the main table shows what there is."""
    random = told_in_parts(infusion="evidence_random", after=0.33, control=True)
    frequency = result(infusion="evidence_frequency", after=0.32, control=True)
    results = [told_in_parts(), told_in_parts(netemb="node2vec", after=0.35), random, frequency]
    (alone,) = group_results(found(tmp_path / "a", *results))
    assert main_table(alone, "filtered", "mrr").header[2:4] == ("+SHNB (evidence)", "+Node2vec (evidence)")
    (group,) = group_results(found(tmp_path / "b", result(after=0.31), *results))
    assert main_table(group, "filtered", "mrr").header[2:4] == ("+SHNB", "SHNB abs.")
    beside = {table.title.split(": ")[1]: written(table)[0] for table in tables_of(group)}
    assert len(beside) == 4 + 2 * 3 + 2
    for rival, value in (
        ("Node2vec (evidence)", "35.0"),
        ("random neighbours", "33.0"),
        ("frequency alone", "32.0"),
    ):
        for setting in ("typed", "filtered"):
            assert beside[f"SHNB (evidence) and {rival}, MRR, {setting}"][2:4] == [value, "36.0"]
    assert beside["MRR, filtered, evidence in parts"][-1] == "+4.0*"


@pytest.mark.parametrize("part", [{}, {"figures": {}}, {"figures": {"filtered": {"mrr": "?"}}}, None])
def test_half_a_part_is_no_result(tmp_path: Path, part: Any, capsys: pytest.CaptureFixture[str]) -> None:
    assert found(tmp_path, {**told_in_parts(), "parts": {"frequency": part}}) == []
    assert "is no result of this program" in capsys.readouterr().err


def test_unlinked_stands_beside_where_there_is_such_a_setting(tmp_path: Path) -> None:
    each = told_in_parts(0.001)
    each["baseline"]["unlinked"] = {"mrr": 0.33, "hits@10": 0.5}
    each["infused"]["unlinked"] = {"mrr": 0.35, "hits@10": 0.5}
    each["significance"] = {**each["significance"], "unlinked": each["significance"]["filtered"]}
    (group,) = group_results(found(tmp_path, each))
    (table,) = parts_tables(group)
    assert written(table)[0][-3:] == ["33.0", "35.0*", "+2.0"]


def test_results_of_before_unlinked_stand_beside_those_of_after(tmp_path: Path) -> None:
    each = told_in_parts()
    each["baseline"]["unlinked"] = each["infused"]["unlinked"] = {"mrr": 0.33, "hits@10": 0.5}
    each["significance"] = {**each["significance"], "unlinked": each["significance"]["filtered"]}
    (group,) = group_results(found(tmp_path, each, told_in_parts(model="complex"), result()))
    rows = written(parts_tables(group)[0])
    assert [row[-3:] for row in rows] == [["33.0", "33.0*", "+0.0"], ["-", "-", "-"]]


def test_results_without_parts_have_no_such_table(tmp_path: Path) -> None:
    (group,) = group_results(found(tmp_path, result()))
    assert parts_tables(group) == []
