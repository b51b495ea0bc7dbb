"""What a page says, read from its HTML: each figure can be done by hand."""

import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

from mohone.reporting.breakdown import gains_by_relation
from mohone.reporting.page import render
from mohone.reporting.page.details import bins_of, grid_of, trials_of
from mohone.reporting.page.jobs import jobs_of
from mohone.reporting.page.render import page_of
from mohone.reporting.page.settings import shared_and_own
from mohone.reporting.reference import published_by
from mohone.reporting.results import read_results
from tests.reporting.made_up import found, result
from tests.reporting.page.made_pages import detailed, many, one, rows_of, text_of

_VOID = {"meta", "link", "line", "polyline", "br", "img"}


class Balanced(HTMLParser):
    """Raises where an element is closed that is not the last one opened."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attrs: object) -> None:  # noqa: ARG002
        if tag not in _VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: object) -> None:
        pass

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def test_it_needs_no_network_and_is_whole(tmp_path: Path) -> None:
    for html in (many(tmp_path / "many"), one(tmp_path / "one")):
        parser = Balanced()
        parser.feed(html)
        parser.close()
        assert not parser.open
        assert not re.search(r"""(src|href)=(?!"(#|data:,))|@import|url\(|https?://""", html)


def test_a_heat_map_has_gains_stars_and_what_is_missing(tmp_path: Path) -> None:
    rows = rows_of(many(tmp_path), "map")
    assert rows == [
        "TransE 30.0 +3.0* 33.0 \N{MINUS SIGN}1.0 29.0 \N{EN DASH}",
        "RESCAL \N{EN DASH} failed \N{EN DASH} \N{EN DASH}",
        "ComplEx 40.0 +0.5 40.5 \N{EN DASH} +0.0 40.0",
    ]
    assert "re-trained alone (control)" in text_of(many(tmp_path / "again"))


def test_the_deepest_colour_is_the_greatest_change(tmp_path: Path) -> None:
    html = many(tmp_path)
    tiles = re.findall(r'class="tile (more|less|)" style="--d:([\d.]+)%"', html)[:4]
    assert tiles == [("more", "62.0"), ("less", "20.7"), ("more", "10.3"), ("", "0.0")]


def test_each_setting_and_metric_has_its_part_and_the_first_is_shown(tmp_path: Path) -> None:
    html = one(tmp_path)
    parts = re.findall(r'<div data-setting="(\w+)" data-metric="([\w@]+)"( hidden)?>', html)
    assert len(parts) == 6
    assert [part for part in parts if not part[2]] == [("filtered", "mrr", "")]


def test_a_failed_job_says_why(tmp_path: Path) -> None:
    assert "RESCAL + SHNB, failed. TrainingError: <it broke>" in text_of(many(tmp_path))


def test_intervals_are_paired_and_from_the_p_value_where_there_are_no_ranks(tmp_path: Path) -> None:
    (job,) = jobs_of(found(tmp_path, detailed(after=0.32, p=0.05)))
    interval = job.figures["filtered", "mrr"].interval
    assert interval is not None
    assert interval[:2] == pytest.approx((0.0, 0.04), abs=1e-6)
    assert job.figures["filtered", "hits@10"].interval is None


def test_names_from_elsewhere_are_text(tmp_path: Path) -> None:
    html = one(tmp_path)
    assert "<b>knows</b>" not in html
    assert "<b>knows</b>" in text_of(html)


def test_relations_add_up_to_the_gain(tmp_path: Path) -> None:
    found_ones = {each.name: each for each in gains_by_relation(detailed())}
    assert found_ones["likes"].gain == pytest.approx(-0.04)
    assert found_ones["likes"].added == pytest.approx(-0.04 * 30 / 200)
    total = sum(each.added for each in found_ones.values())
    assert total == pytest.approx((-0.04 * 30 + 0.05 * 70 + 0.01 * 100) / 200)
    rows = rows_of(one(tmp_path), "full relations")
    assert [row.split()[0] for row in rows] == ["<b>knows</b>", "has", "likes"]


def test_bars_of_bins_start_at_zero() -> None:
    bins = next(each for each in bins_of(detailed()) if each.title == "By degree")
    down, up = bins.bins
    assert (down.of.n_queries, up.of.n_queries) == (7, 1234)
    assert (down.left, down.left + down.width) == (0.0, pytest.approx(bins.zero))
    assert (up.left, up.left + up.width) == (pytest.approx(bins.zero), pytest.approx(100))
    assert bins.zero == pytest.approx(25)


def test_the_grid_has_a_line_for_each_number_of_neighbours() -> None:
    grid = grid_of(detailed())
    assert grid is not None
    assert len(grid.lines) == 2
    assert [dot.text for dot in grid.dots][-1] == "10 neighbours, beta 0.2: +2.00 points"


def test_what_cross_validation_compared() -> None:
    selection = {
        "cross_validated_mrr": {"none": 0.3, "one_weight": 0.4},
        "cross_validated_mrr_by_penalty": {"5": 0.4},
    }
    assert trials_of({"selection": selection}) == [("none", 0.3), ("one weight", 0.4), ("penalty 5", 0.4)]
    assert trials_of({"selection": None}) == []


def test_a_job_alone_says_in_a_sentence_what_came_out(tmp_path: Path) -> None:
    text = text_of(one(tmp_path, netemb="shnb", after=0.32, p=0.01))
    sentence = "SHNB raises TransE's filtered MRR on fb15k237 from 30.0 to 32.0 points (p = 0.01)."
    assert sentence in text.replace("\N{NO-BREAK SPACE}", " ")
    assert "python -m mohone.run dim=7" in text
    assert "torch 2.13.0" in text
    assert "fingerprint 0123456789ab" in text
    assert "40 → 1 ann likes bob +2.0 votes: cy has it, too" in text
    assert "Now first: dan +1.0 heat · -0.5 paths +1.0 heat -0.5 paths: a rule" in text


def test_ours_stand_beside_the_papers_and_the_best_in_print(tmp_path: Path) -> None:
    text = text_of(one(tmp_path, model="complex", before=0.30, after=0.32))
    assert "ComplEx SHNB 30.0 26.1 +3.9 32.0* 30.0 +2.0 +2.0 +3.9" in text
    best = "ComplEx 7 14 30.0 32.0* SHNB 37.1 2000 DURA (Zhang, Cai, Wang; NeurIPS 2020)"
    assert best in text
    assert published_by("fb15k237", "transr") == (None, None)


def test_what_cannot_stand_in_one_table_is_shown_job_by_job(tmp_path: Path) -> None:
    other = {"baseline": {"key": "another", "valid_mrr": 0.1}, "infusion": {"key": "x"}}
    text = text_of(page_of(found(tmp_path, result(), result(stages=other)), "Two"))
    assert "differ in other settings" in text
    assert "Gain and its confidence interval" in text
    assert "Gains by model and infusion" not in text


def test_baselines_and_failed_jobs_alone_have_a_page(tmp_path: Path) -> None:
    alone = result(netemb="none", after=None)
    assert "TransE on fb15k237 has a filtered MRR of 30.0 points." in text_of(
        page_of(found(tmp_path / "a", alone), "Alone")
    )
    failed = result(status="failed", error="It broke.", baseline=None, infused=None)
    assert "It broke." in text_of(page_of(found(tmp_path / "b", failed), "Failed"))


def test_configurations_are_told_once_where_they_are_shared() -> None:
    shared, own = shared_and_own([{"a": 1, "b": {"c": [2], "d": None}}, {"a": 1, "b": {"c": [3]}}])
    assert shared == [("a", "1")]
    assert own == [[("b.c", "[2]"), ("b.d", "null")], [("b.c", "[3]")]]


def test_results_without_any_details_have_a_page(tmp_path: Path) -> None:
    text = text_of(page_of(found(tmp_path, result(), result("complex")), "Old"))
    assert "a version that kept no figures by relation" in text
    assert "This job was not opened." in text


def test_several_seeds_have_one_tile_and_a_row_each(tmp_path: Path) -> None:
    stages = [
        {"baseline": {"key": f"b{i}", "valid_mrr": 0.1}, "infusion": {"key": f"i{i}"}} for i in range(2)
    ]
    html = page_of(
        found(
            tmp_path,
            result(after=0.32, seed=0, stages=stages[0]),
            result(after=0.34, seed=1, p=0.2, stages=stages[1]),
        ),
        "Seeds",
    )
    assert rows_of(html, "map") == ["TransE 30.0 ± 0.0 +3.0 33.0 ± 1.4"]
    assert [row.split("+2.00")[0].split("+4.00")[0].strip() for row in rows_of(html, "full gains")] == [
        "TransE + SHNB 30.0 32.0",
        "TransE + SHNB seed 1 30.0 34.0",
    ]


def test_of_many_jobs_the_relations_that_change_most_are_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(render, "_FEW", 0)
    monkeypatch.setattr(render, "_MOST_RELATIONS", 2)
    html = one(tmp_path)
    assert [row.split()[0] for row in rows_of(html, "full relations")] == ["<b>knows</b>", "likes"]
    assert "The 2 of 3 relations that add or cost most." in text_of(html)


def test_the_page_of_the_papers_jobs_is_small() -> None:
    folder = Path(__file__).parents[3] / "outputs/paper/paper/wn18rr"
    results = read_results([folder])
    html = page_of(results, "Paper")
    assert len(results) == 40
    assert len(html) < 30_000 * len(results)


def test_warnings_of_the_data_are_told_once_and_of_their_data_set(tmp_path: Path) -> None:
    def on(name: str, *warnings: str) -> dict[str, object]:
        return {"name": name, "report": {"warnings": list(warnings)}}

    html = page_of(
        found(
            tmp_path,
            result(dataset=on("mine", "valid repeats 3 of train", "a < b")),
            result(model="complex", dataset=on("mine", "a < b", "later")),
            result(dataset=on("other")),
            result(dataset={"name": "earlier"}),
        ),
        "page",
    )
    assert re.findall("<li>(.*?)</li>", html.partition('class="warnings"')[2].partition("</ul>")[0]) == [
        "valid repeats 3 of train",
        "a &lt; b",
        "later",
    ]
    assert html.count("What was found in the data") == 1
