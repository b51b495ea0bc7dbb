"""Tables of gains in parts, whose every figure can be done by hand."""

from pathlib import Path
from typing import Any

from mohone.reporting.groups import group_results
from mohone.reporting.parts import parts_tables
from tests.reporting.made_up import found, result, written


def told_in_parts(p_beyond: float, **changed: Any) -> dict[str, Any]:
    each = result(infusion="evidence", before=0.30, after=0.36, p=0.001, **changed)

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


def test_unlinked_stands_beside_where_there_is_such_a_setting(tmp_path: Path) -> None:
    each = told_in_parts(0.001)
    each["baseline"]["unlinked"] = {"mrr": 0.33, "hits@10": 0.5}
    each["infused"]["unlinked"] = {"mrr": 0.35, "hits@10": 0.5}
    each["significance"] = {**each["significance"], "unlinked": each["significance"]["filtered"]}
    (group,) = group_results(found(tmp_path, each))
    (table,) = parts_tables(group)
    assert written(table)[0][-3:] == ["33.0", "35.0*", "+2.0"]


def test_results_without_parts_have_no_such_table(tmp_path: Path) -> None:
    (group,) = group_results(found(tmp_path, result()))
    assert parts_tables(group) == []
