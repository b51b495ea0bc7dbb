"""An infusion is known by what its result says: old ones by their grid, new ones by their own words."""

from pathlib import Path
from typing import Any

import pytest

from mohone.reporting import infusions
from mohone.reporting.groups import group_results
from mohone.reporting.infusions import Column
from mohone.reporting.jobs import job_table, jobs_table
from mohone.reporting.pictures.gains import grid_figure
from mohone.reporting.tables import main_table, tables_of
from tests.reporting.made_up import found, result, written


def evidence(**changed: Any) -> dict[str, Any]:
    """Of an infusion that nothing here has ever heard of, and that has no grid."""
    selection = {"chosen": "5 experts, weights by relation", "kept": True}
    return result(**{"infusion": "evidence", "selection": selection, **changed})


def test_a_further_infusion_has_columns_tables_and_words_of_its_own(tmp_path: Path) -> None:
    results = found(
        tmp_path,
        result(after=0.32),
        result(netemb="node2vec", after=0.31),
        evidence(after=0.40),
        evidence(netemb="node2vec", after=0.38),
        evidence(netemb="random", after=0.35, control=True),
    )
    (group,) = group_results(results)
    table = main_table(group, "filtered", "mrr")
    assert table.header[1:5] == ("Baseline", "+SHNB", "+SHNB (evidence)", "+Node2vec (evidence)")
    assert written(table)[0][:5] == ["TransE", "30.0", "32.0*", "40.0*", "38.0*"]
    beside = {table.title.split(": ")[1]: written(table)[0] for table in tables_of(group)}
    assert beside["SHNB and Node2vec, MRR, typed"][2:5] == ["31.0", "32.0", "+1.0"]
    assert beside["SHNB (evidence) and Node2vec (evidence), MRR, typed"][2:5] == ["38.0", "40.0", "+2.0"]
    control = "SHNB (evidence) and random (evidence, control), MRR, "
    assert beside[f"{control}typed"] == beside[f"{control}filtered"]
    assert beside[f"{control}typed"][2:5] == ["35.0", "40.0", "+5.0"]
    assert "| shnb (evidence)" in jobs_table(results)
    assert "chosen on validation: 5 experts, weights by relation" in job_table(results[2][1])
    assert grid_figure(results[2][1]) is None
    assert infusions.n_neighbors(results[2][1]) == 0


def test_what_validation_did_not_keep_is_marked(tmp_path: Path) -> None:
    refused = evidence(after=0.30, p=1.0, selection={"chosen": "no infusion", "kept": False})
    control = evidence(netemb="struct", after=0.30, p=1.0, selection={"kept": False}, control=True)
    (group,) = group_results(found(tmp_path, refused, control))
    cells = [group.cell("transe", column) for column in group.columns]
    assert [cell.infused("typed", "mrr").unmoved for cell in cells] == [True, False]
    assert written(main_table(group, "typed", "mrr"))[0][1:3] == ["30.0", "30.0°"]


@pytest.mark.parametrize(
    ("infusion", "selection", "words", "nothing", "neighbors"),
    [
        ("retrofit", {"beta": 0.2, "neighbors": 10, "side": "both"}, "10 neighbours, beta 0.2", False, 10),
        ("query", {"beta": 0.0, "neighbors": 0, "side": "both"}, "no infusion", True, 0),
        ("retrain", {"beta": 0.0, "neighbors": 0, "side": "both"}, "no entity moves", False, 0),
        ("evidence", {"kept": False}, "no infusion", True, 0),
        ("evidence", {}, "", False, 0),
        ("retrofit", {"chosen": "little", "kept": True, "beta": 0.1, "neighbors": 3}, "little", False, 3),
    ],
)
def test_the_words_of_old_and_new_results(
    infusion: str, selection: dict[str, Any], words: str, nothing: bool, neighbors: int
) -> None:
    each = result(infusion=infusion, selection=selection)
    assert infusions.chosen(each) == words
    assert infusions.changed_nothing(each) is nothing
    assert infusions.n_neighbors(each) == neighbors


def test_the_result_itself_says_what_a_control_is() -> None:
    assert infusions.is_control(result(infusion="retrain"))
    assert not infusions.is_control(result(infusion="retrain", control=False))
    assert infusions.is_control(result(infusion="evidence", control=True))
    assert Column("shnb", "retrain", is_control=True).label == "re-trained alone"


def test_a_model_and_a_network_embedding_from_elsewhere_keep_their_names(tmp_path: Path) -> None:
    results = found(tmp_path, result("rotate", "katz"), result("transe"), result("boxe", after=None))
    (group,) = group_results(results)
    table = main_table(group, "typed", "mrr")
    assert table.header[2:4] == ("+SHNB", "+katz")
    assert [row[0] for row in table.rows] == ["TransE", "boxe", "rotate"]
    whole = main_table(group, "typed", "mrr", whole=True)
    assert [row[0] for row in whole.rows][-3:] == ["Analogy", "boxe", "rotate"]


def test_an_infusion_may_need_no_network_embedding(tmp_path: Path) -> None:
    alone = evidence(netemb="none", infusion="rules", after=0.33)
    (group,) = group_results(found(tmp_path, alone, result(netemb="none", after=None, infusion="retrofit")))
    assert main_table(group, "typed", "mrr").header[2] == "+rules"
    assert group.columns == [Column("none", "rules")]


def test_a_network_embedding_without_an_infusion_has_no_column(tmp_path: Path) -> None:
    (group,) = group_results(found(tmp_path, result(), result(netemb="struct", infusion="none", after=None)))
    assert group.columns == [Column("shnb")]
