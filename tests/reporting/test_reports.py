"""Tables from made-up results, whose every figure can be done by hand."""

import csv
import io
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mohone.report import main
from mohone.reporting.cells import AmbiguousError, Number, Way, blocks, is_better
from mohone.reporting.formats import rows_of, to_csv, to_latex, to_markdown
from mohone.reporting.jobs import jobs_table
from mohone.reporting.reference import PAPER, PUBLISHED
from mohone.reporting.results import CONTROL, RANKS, read_results
from mohone.reporting.tables import NODE2VEC, main_table, paper_table, rival_table, tables_of

SETTINGS = ("filtered", "typed", "typed_train")


def result(
    model: str = "transe",
    netemb: str = "shnb",
    before: float = 0.30,
    after: float | None = 0.32,
    p: float = 0.01,
    **changed: Any,
) -> dict[str, Any]:
    """A result with these figures for MRR and twice these for Hits@10, in all settings."""

    def figures(mrr: float) -> dict[str, Any]:
        return {setting: {"mrr": mrr, "hits@10": 2 * mrr} for setting in SETTINGS}

    gain = 0.0 if after is None else after - before
    tests = {"mrr": {"delta": gain, "p_value": p}, "hits@10": {"delta": 2 * gain, "p_value": p}}
    base: dict[str, Any] = {"schema": 1, "status": "ok", "error": None, "dataset": {"name": "fb15k237"}}
    base |= {"kge_model": model, "netemb": netemb, "infusion": "retrofit" if netemb != "none" else "none"}
    base |= {"training": "negative_sampling", "recipe": "paper", "seed": 0, "baseline": figures(before)}
    base["infused"] = None if after is None else figures(after)
    base["significance"] = None if after is None else dict.fromkeys(SETTINGS, tests)
    base["selection"] = {"beta": 0.2, "neighbors": 10}
    base["stages"] = {"baseline": {"key": model, "valid_mrr": 0.1}, "infusion": {"key": model + netemb}}
    return {**base, **changed}


def found(tmp_path: Path, *results: dict[str, Any]) -> list[tuple[Path, dict[str, Any]]]:
    for i, each in enumerate(results):
        (tmp_path / f"{i}").mkdir(parents=True)
        (tmp_path / f"{i}/result.json").write_text(json.dumps(each), encoding="utf-8")
    return read_results([tmp_path])


def written(table: Any) -> list[list[str]]:
    """The rows of a table as Markdown writes them."""
    lines = to_markdown([table]).splitlines()[6:]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


def test_the_papers_form(tmp_path: Path) -> None:
    (block,) = blocks(
        found(
            tmp_path,
            result("complex", "shnb", 0.25, 0.30),
            result("transe", "shnb", 0.30, 0.32, p=0.2),
            result("transe", "struct", 0.30, 0.27),
            result("transe", "node2vec", 0.30, 0.31),
        )
    )
    table = main_table(block, "typed", "mrr")
    assert table.header == (
        *("Model", "Baseline", "+SHNB", "+Struct"),
        *("SHNB abs.", "Struct abs.", "SHNB rel.", "Struct rel."),
    )
    assert written(table) == [
        ["TransE", "30.0", "32.0", "27.0", "+2.0", "-3.0", "+6.7%", "-10.0%"],
        ["ComplEx", "25.0", "30.0*", "-", "+5.0", "-", "+20.0%", "-"],
    ]
    assert written(main_table(block, "typed", "hits@10"))[1][:3] == ["ComplEx", "50.0", "60.0*"]
    filtered = main_table(block, "filtered", "mrr")
    assert filtered.header[-1] == "Best published"
    assert written(filtered)[0][-1] == "33.2"


def test_against_the_paper_all_its_cells_are_shown(tmp_path: Path) -> None:
    failed = result("transe", "struct", status="failed", error="E", baseline=None, infused=None)
    (block,) = blocks(found(tmp_path, result("transe", "shnb", 0.30, 0.32), failed))
    rows = written(main_table(block, "typed", "mrr", whole=True))
    assert [row[0] for row in rows][:2] == ["TransE", "TransH"]
    assert len(rows) == 8
    assert rows[0][2:4] == ["32.0*", "failed"]
    assert rows[1][1:] == ["-"] * 7
    ours, theirs = paper_table(block, "mrr").rows[0], paper_table(block, "mrr").rows[1]
    assert ours[:4] == ("TransE", "SHNB", Number(0.3), Number(29.6 / 100))
    difference, gain, papers = ours[7], ours[8], ours[9]
    assert isinstance(difference, Number)
    assert isinstance(gain, Number)
    assert isinstance(papers, Number)
    assert difference.value == pytest.approx(0.32 - 0.315)
    assert (gain.value, papers.value) == (pytest.approx(0.02), pytest.approx(0.019))
    assert theirs[5] == "failed"
    assert len(tables_of(block, against_paper=True)) == 7


def test_another_form_of_infusion_has_a_column_of_its_own(tmp_path: Path) -> None:
    (block,) = blocks(found(tmp_path, result(after=0.32), result(after=0.33, infusion="query")))
    assert block.ways == [Way("shnb", "retrofit"), Way("shnb", "query")]
    table = main_table(block, "filtered", "mrr")
    assert table.header[2:4] == ("+SHNB", "+SHNB (query)")
    assert written(table)[0][2:4] == ["32.0*", "33.0*"]


def test_seeds_have_a_mean_and_a_spread_and_a_star_if_all_are_significant(tmp_path: Path) -> None:
    seeds = [result(before=b, after=a, seed=i) for i, (b, a) in enumerate([(0.30, 0.32), (0.31, 0.35)])]
    (block,) = blocks(found(tmp_path / "a", *seeds))
    assert written(main_table(block, "typed", "mrr"))[0][1:4] == ["30.5 ± 0.7", "33.5 ± 2.1*", "+3.0"]
    seeds[1]["significance"]["typed"]["mrr"]["p_value"] = 0.06
    (block,) = blocks(found(tmp_path / "b", *seeds))
    assert written(main_table(block, "typed", "mrr"))[0][2] == "33.5 ± 2.1"


def test_the_choice_of_no_infusion_is_shown(tmp_path: Path) -> None:
    unmoved = result(after=0.30, p=1.0, selection={"beta": 0.0, "neighbors": 0})
    results = found(tmp_path, unmoved)
    (block,) = blocks(results)
    assert written(main_table(block, "typed", "mrr"))[0][1:4] == ["30.0", "30.0°", "+0.0"]
    assert "no infusion" in jobs_table(results)
    assert "10 neighbours, beta 0.2" in jobs_table([(tmp_path / "x/result.json", result())])


def test_each_gain_is_over_its_own_baseline(tmp_path: Path) -> None:
    """`struct` has one seed only, and not the better of the two."""
    two = [result(before=0.30, after=0.32, seed=0), result(before=0.40, after=0.43, seed=1)]
    one = result(netemb="struct", before=0.30, after=0.31, seed=0)
    broken = result(netemb="struct", seed=1, status="failed", error="E")
    (block,) = blocks(found(tmp_path, *two, one, broken))
    row = written(main_table(block, "typed", "mrr"))[0]
    assert row[1:] == ["35.0 ± 7.1", "37.5 ± 7.8*", "31.0*†", "+2.5", "+1.0", "+7.1%", "+3.3%"]


def test_two_baselines_of_a_model_are_refused(tmp_path: Path) -> None:
    other = result(netemb="struct", before=0.1)
    other["stages"]["baseline"]["key"] = "another"
    with pytest.raises(AmbiguousError, match=r"one baseline for a model and seed, but .*/0 and .*/1 differ"):
        blocks(found(tmp_path, result(), other))


def test_whole_files_that_are_no_results_are_passed_over(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found(tmp_path, result(), {"schema": 1, "status": "ok"}, {"schema": 1}, {})
    assert main([str(tmp_path), "--format", "markdown"]) == 0
    assert capsys.readouterr().err.count("is no result of this program") == 6
    (tmp_path / "0/result.json").unlink()
    assert main([str(tmp_path)]) == 1
    assert "There must be results" in capsys.readouterr().err


def test_a_baseline_alone_and_the_same_job_twice(tmp_path: Path) -> None:
    results = [result("transe", "none", after=None), result("transe", "shnb"), result("transe", "shnb")]
    (block,) = blocks(found(tmp_path, *results))
    assert written(main_table(block, "typed", "mrr")) == [["TransE", "30.0", "32.0*", "+2.0", "+6.7%"]]


def test_two_results_of_one_cell_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    other = result()
    other["stages"]["infusion"]["key"] = "another"
    with pytest.raises(AmbiguousError, match=r"one result for a cell, .*/0 and .*/1 differ"):
        blocks(found(tmp_path, result(), other))
    assert main([str(tmp_path), "--format", "markdown"]) == 1
    assert "one result for a cell" in capsys.readouterr().err
    assert main([str(tmp_path)]) == 0  # Rows of jobs can always be shown.


RIVALS = ["TransE", "30.0", "31.0", "33.0", "+2.0", "+6.5%"]  # Baseline, rival, SHNB, and by how much.


def test_node2vec_is_compared_query_by_query(tmp_path: Path) -> None:
    results = found(tmp_path, result(netemb="shnb", after=0.33), result(netemb="node2vec", after=0.31))
    (block,) = blocks(results)
    assert written(rival_table(block, NODE2VEC, "typed"))[0] == RIVALS
    rng = np.random.default_rng(0)
    ranks = rng.integers(2, 50, 400).astype(np.float32)
    for folder, each in (("0", ranks - 1), ("1", ranks)):
        np.savez_compressed(tmp_path / folder / RANKS, **{"infused/typed": each})
    assert written(rival_table(block, NODE2VEC, "typed"))[0][3] == "33.0*"
    shnb, rival = (block.cells["transe", Way(name, "retrofit")] for name in ("shnb", "node2vec"))
    assert is_better(shnb, rival, "typed")
    assert not is_better(rival, shnb, "typed")


def test_a_seed_that_failed_at_first_and_ended_later_is_whole(tmp_path: Path) -> None:
    (block,) = blocks(found(tmp_path, result(status="failed", error="E"), result(after=0.33)))
    assert written(main_table(block, "typed", "mrr"))[0][2] == "33.0*"


@pytest.mark.parametrize("netemb", ["shnb", "struct"])
def test_the_control_of_a_gain_has_a_table_of_its_own(tmp_path: Path, netemb: str) -> None:
    control = result(netemb=netemb, after=0.31, infusion="retrain", selection={"beta": 0.0})
    results = found(tmp_path, result(after=0.33), control)
    assert "no entity moves" in jobs_table(results)
    (block,) = blocks(results)
    assert "re-trained" not in str(main_table(block, "typed", "mrr"))
    assert written(rival_table(block, Way(netemb, CONTROL), "typed"))[0] == RIVALS
    titles = [table.title for table in tables_of(block)]
    assert sum("SHNB and re-trained alone" in title for title in titles) == 2


def test_without_node2vec_nothing_is_better_than_it(tmp_path: Path) -> None:
    (block,) = blocks(found(tmp_path, result(netemb="shnb", after=0.33)))
    assert written(main_table(block, "typed", "mrr"))[0][2] == "33.0*"
    assert written(rival_table(block, NODE2VEC, "typed"))[0][2:4] == ["-", "33.0"]


def test_the_rows_of_csv_and_json_are_the_results(tmp_path: Path) -> None:
    failed = result(status="failed", error="E")
    results = found(
        tmp_path, result("transe", "shnb", 0.30, 0.32), result("transe", "none", after=None), failed
    )
    rows = rows_of(results)
    assert len(rows) == 2 * 3 * 2 + 1
    assert (rows[-1]["status"], rows[-1]["folder"]) == ("failed", str(tmp_path / "2"))
    typed = next(
        r for r in rows if r.get("setting") == "typed" and r["metric"] == "mrr" and r["netemb"] == "shnb"
    )
    assert (typed["baseline"], typed["infused"], typed["p_value"]) == (0.30, 0.32, 0.01)
    assert (typed["paper_baseline"], typed["paper_infused"]) == (pytest.approx(0.296), pytest.approx(0.315))
    assert "paper_baseline" not in rows[0]
    read = list(csv.DictReader(io.StringIO(to_csv(results))))
    assert [row["baseline"] for row in read] == [str(row.get("baseline", "")) for row in rows]


def test_latex_is_escaped(tmp_path: Path) -> None:
    (block,) = blocks(found(tmp_path, result()))
    text = to_latex([main_table(block, "typed", "mrr")])
    assert r"TransE & 30.0 & 32.0$^{\star}$ & +2.0 & +6.7\% \\" in text
    assert r"negative\_sampling" in text
    assert text.count(r"\begin{") == text.count(r"\end{") == 2


def test_the_papers_figures() -> None:
    """Its own increases, by hand from the figures: table 2 says so."""
    fb = PAPER["fb15k237"]["mrr"]
    gains = [fb[model]["shnb"] - fb[model]["baseline"] for model in fb]
    assert sum(gains) / 8 == pytest.approx(2.76, abs=0.005)
    node2vec = [fb[model]["shnb"] / fb[model]["node2vec"] - 1 for model in fb]
    assert sum(node2vec) / 8 == pytest.approx(0.038, abs=0.0005)
    assert PUBLISHED["wn18rr"]["mrr"]["complex"] == 49.1


@pytest.mark.parametrize(
    ("form", "name", "model"),
    [
        ("jobs", "jobs.md", "transe"),
        ("markdown", "tables.md", "TransE"),
        ("latex", "tables.tex", "TransE"),
        ("csv", "tables.csv", "transe"),
        ("json", "tables.json", "transe"),
    ],
)
def test_the_command_writes_files(tmp_path: Path, form: str, name: str, model: str) -> None:
    found(tmp_path / "in", result())
    assert (
        main([str(tmp_path / "in"), "--format", form, "--against", "paper", "--out", str(tmp_path / "out")])
        == 0
    )
    assert model in (tmp_path / "out" / name).read_text(encoding="utf-8")


def test_charts_have_a_file_for_each_metric(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    found(tmp_path, result(), result("complex", "struct"))
    assert main([str(tmp_path), "--format", "png", "--setting", "typed", "--out", str(tmp_path)]) == 0
    assert {path.name for path in tmp_path.glob("*.png")} == {
        "fb15k237-paper-negative_sampling-typed-mrr.png",
        "fb15k237-paper-negative_sampling-typed-hits10.png",
    }


def test_results_are_collected_without_the_machines_paths(tmp_path: Path) -> None:
    from collect_results import main as collect

    config = {
        "data_dir": "/home/me/data",
        "store_dir": "/tmp/s",
        "dataset": {"name": "umls", "path": "/x"},
        "seed": 0,
    }
    failed = result(status="failed", error="E")
    found(tmp_path / "in", result(config=config), failed)
    assert collect(tmp_path / "in", tmp_path / "out") == 0
    ((path, kept),) = read_results([tmp_path / "out"])
    assert path == tmp_path / "out/0/result.json"
    assert kept["config"] == {
        "data_dir": None,
        "store_dir": None,
        "dataset": {"name": "umls", "path": None},
        "seed": 0,
    }
