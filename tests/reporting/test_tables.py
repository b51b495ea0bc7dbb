"""Tables from made-up results, whose every figure can be done by hand."""

from pathlib import Path

import numpy as np
import pytest

from mohone.reporting.cells import MarkedNumber, is_better
from mohone.reporting.groups import group_results
from mohone.reporting.infusions import Column
from mohone.reporting.jobs import jobs_table
from mohone.reporting.reference import PAPER, PUBLISHED
from mohone.reporting.results import RANKS
from mohone.reporting.tables import NODE2VEC, main_table, paper_table, rival_table, tables_of
from tests.reporting.made_up import found, result, written


def test_the_papers_form(tmp_path: Path) -> None:
    (group,) = group_results(
        found(
            tmp_path,
            result("complex", "shnb", 0.25, 0.30),
            result("transe", "shnb", 0.30, 0.32, p=0.2),
            result("transe", "struct", 0.30, 0.27),
            result("transe", "node2vec", 0.30, 0.31),
        )
    )
    table = main_table(group, "typed", "mrr")
    assert table.header == (
        *("Model", "Baseline", "+SHNB", "+Struct"),
        *("SHNB abs.", "Struct abs.", "SHNB rel.", "Struct rel."),
    )
    assert written(table) == [
        ["TransE", "30.0", "32.0", "27.0", "+2.0", "-3.0", "+6.7%", "-10.0%"],
        ["ComplEx", "25.0", "30.0*", "-", "+5.0", "-", "+20.0%", "-"],
    ]
    assert written(main_table(group, "typed", "hits@10"))[1][:3] == ["ComplEx", "50.0", "60.0*"]
    filtered = main_table(group, "filtered", "mrr")
    assert filtered.header[-1] == "Best published"
    assert written(filtered)[0][-1] == "33.2"


def test_against_the_paper_all_its_cells_are_shown(tmp_path: Path) -> None:
    failed = result("transe", "struct", status="failed", error="E", baseline=None, infused=None)
    (group,) = group_results(found(tmp_path, result("transe", "shnb", 0.30, 0.32), failed))
    rows = written(main_table(group, "typed", "mrr", whole=True))
    assert [row[0] for row in rows][:2] == ["TransE", "TransH"]
    assert len(rows) == 8
    assert rows[0][2:4] == ["32.0*", "failed"]
    assert rows[1][1:] == ["-"] * 7
    ours, theirs = paper_table(group, "mrr").rows[0], paper_table(group, "mrr").rows[1]
    assert ours[:4] == ("TransE", "SHNB", MarkedNumber(0.3), MarkedNumber(29.6 / 100))
    difference, gain, papers = ours[7], ours[8], ours[9]
    assert isinstance(difference, MarkedNumber)
    assert isinstance(gain, MarkedNumber)
    assert isinstance(papers, MarkedNumber)
    assert difference.value == pytest.approx(0.32 - 0.315)
    assert (gain.value, papers.value) == (pytest.approx(0.02), pytest.approx(0.019))
    assert theirs[5] == "failed"
    assert len(tables_of(group, against_paper=True)) == 7


def test_another_form_of_infusion_has_a_column_of_its_own(tmp_path: Path) -> None:
    (group,) = group_results(found(tmp_path, result(after=0.32), result(after=0.33, infusion="query")))
    assert group.columns == [Column("shnb"), Column("shnb", "query")]
    table = main_table(group, "filtered", "mrr")
    assert table.header[2:4] == ("+SHNB", "+SHNB (query)")
    assert written(table)[0][2:4] == ["32.0*", "33.0*"]


def test_seeds_have_a_mean_and_a_spread_and_a_star_if_all_are_significant(tmp_path: Path) -> None:
    seeds = [result(before=b, after=a, seed=i) for i, (b, a) in enumerate([(0.30, 0.32), (0.31, 0.35)])]
    (group,) = group_results(found(tmp_path / "a", *seeds))
    assert written(main_table(group, "typed", "mrr"))[0][1:4] == ["30.5 ± 0.7", "33.5 ± 2.1*", "+3.0"]
    seeds[1]["significance"]["typed"]["mrr"]["p_value"] = 0.06
    (group,) = group_results(found(tmp_path / "b", *seeds))
    assert written(main_table(group, "typed", "mrr"))[0][2] == "33.5 ± 2.1"


def test_the_choice_of_no_infusion_is_shown(tmp_path: Path) -> None:
    unmoved = result(after=0.30, p=1.0, selection={"beta": 0.0, "neighbors": 0})
    results = found(tmp_path, unmoved)
    (group,) = group_results(results)
    assert written(main_table(group, "typed", "mrr"))[0][1:4] == ["30.0", "30.0°", "+0.0"]
    assert "no infusion" in jobs_table(results)
    assert "10 neighbours, beta 0.2" in jobs_table([(tmp_path / "x/result.json", result())])


def test_each_gain_is_over_its_own_baseline(tmp_path: Path) -> None:
    """`struct` has one seed only, and not the better of the two."""
    two = [result(before=0.30, after=0.32, seed=0), result(before=0.40, after=0.43, seed=1)]
    one = result(netemb="struct", before=0.30, after=0.31, seed=0)
    broken = result(netemb="struct", seed=1, status="failed", error="E")
    (group,) = group_results(found(tmp_path, *two, one, broken))
    row = written(main_table(group, "typed", "mrr"))[0]
    assert row[1:] == ["35.0 ± 7.1", "37.5 ± 7.8*", "31.0*†", "+2.5", "+1.0", "+7.1%", "+3.3%"]


def test_a_baseline_alone_and_the_same_job_twice(tmp_path: Path) -> None:
    results = [result("transe", "none", after=None), result("transe", "shnb"), result("transe", "shnb")]
    (group,) = group_results(found(tmp_path, *results))
    assert written(main_table(group, "typed", "mrr")) == [["TransE", "30.0", "32.0*", "+2.0", "+6.7%"]]


RIVALS = ["TransE", "30.0", "31.0", "33.0", "+2.0", "+6.5%"]  # Baseline, rival, SHNB, and by how much.


def test_node2vec_is_compared_query_by_query(tmp_path: Path) -> None:
    results = found(tmp_path, result(netemb="shnb", after=0.33), result(netemb="node2vec", after=0.31))
    (group,) = group_results(results)
    assert written(rival_table(group, NODE2VEC, "typed"))[0] == RIVALS
    rng = np.random.default_rng(0)
    ranks = rng.integers(2, 50, 400).astype(np.float32)
    for folder, each in (("0", ranks - 1), ("1", ranks)):
        np.savez_compressed(tmp_path / folder / RANKS, **{"infused/typed": each})
    assert written(rival_table(group, NODE2VEC, "typed"))[0][3] == "33.0*"
    shnb, rival = (group.cells["transe", Column(name)] for name in ("shnb", "node2vec"))
    assert is_better(shnb, rival, "typed")
    assert not is_better(rival, shnb, "typed")


def test_a_seed_that_failed_at_first_and_ended_later_is_whole(tmp_path: Path) -> None:
    (group,) = group_results(found(tmp_path, result(status="failed", error="E"), result(after=0.33)))
    assert written(main_table(group, "typed", "mrr"))[0][2] == "33.0*"


@pytest.mark.parametrize("netemb", ["shnb", "struct"])
def test_the_control_of_a_gain_has_a_table_of_its_own(tmp_path: Path, netemb: str) -> None:
    control = result(netemb=netemb, after=0.31, infusion="retrain", selection={"beta": 0.0})
    results = found(tmp_path, result(after=0.33), control)
    assert "no entity moves" in jobs_table(results)
    (group,) = group_results(results)
    assert "re-trained" not in str(main_table(group, "typed", "mrr"))
    assert written(rival_table(group, Column(netemb, "retrain", is_control=True), "typed"))[0] == RIVALS
    titles = [table.title for table in tables_of(group)]
    assert sum("SHNB and re-trained alone" in title for title in titles) == 2


def test_without_node2vec_nothing_is_better_than_it(tmp_path: Path) -> None:
    (group,) = group_results(found(tmp_path, result(netemb="shnb", after=0.33)))
    assert written(main_table(group, "typed", "mrr"))[0][2] == "33.0*"
    assert written(rival_table(group, NODE2VEC, "typed"))[0][2:4] == ["-", "33.0"]


def test_the_papers_figures() -> None:
    """Its own increases, by hand from the figures: table 2 says so."""
    fb = PAPER["fb15k237"]["mrr"]
    gains = [fb[model]["shnb"] - fb[model]["baseline"] for model in fb]
    assert sum(gains) / 8 == pytest.approx(2.76, abs=0.005)
    node2vec = [fb[model]["shnb"] / fb[model]["node2vec"] - 1 for model in fb]
    assert sum(node2vec) / 8 == pytest.approx(0.038, abs=0.0005)
    assert PUBLISHED["wn18rr"]["mrr"]["complex"] == 49.1
