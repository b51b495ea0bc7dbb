"""What `evaluate` returns is a dict, and shows as a table."""

import json

from mohone.api.figures import Figures

ONE = {
    "mrr": 0.5,
    "hits@1": 0.25,
    "hits@3": 0.5,
    "hits@10": 1,
    "mr": 12.25,
    "amri": 0.9,
    "tail": {"mrr": 0.4},
}
BASELINE = {"filtered": {**ONE, "mrr": 0.4}, "typed": ONE, "numbers_per_entity": 4}
TESTS = {
    "filtered": {"mrr": {"delta": 0.1, "p_value": 0.012}},
    "typed": {"mrr": {"delta": -0.25, "p_value": 0.001}},
}
INFUSED = Figures(
    {"filtered": ONE, "typed": {**ONE, "mrr": 0.25}, "baseline": BASELINE, "significance": TESTS}
)


def test_a_baseline_shows_a_row_for_each_setting() -> None:
    assert repr(Figures(BASELINE)).splitlines() == [
        "|          | MRR    | Hits@1 | Hits@3 | Hits@10 | MR   | AMRI   |",
        "| -------- | ------ | ------ | ------ | ------- | ---- | ------ |",
        "| filtered | 0.4000 | 0.2500 | 0.5000 | 1.0000  | 12.2 | 0.9000 |",
        "| typed    | 0.5000 | 0.2500 | 0.5000 | 1.0000  | 12.2 | 0.9000 |",
    ]


def test_an_infused_model_shows_its_baseline_the_gain_and_its_star() -> None:
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in repr(INFUSED).splitlines()]
    assert [(row[0], row[1], *row[-2:]) for row in rows[2:]] == [
        ("filtered, baseline", "0.4000", "", ""),
        ("filtered, infused", "0.5000", "+0.1000*", "0.012"),
        ("typed, baseline", "0.5000", "", ""),
        ("typed, infused", "0.2500", "-0.2500", "0.001"),
    ]


def test_a_notebook_has_the_same_table() -> None:
    html = INFUSED._repr_html_()
    assert html.count("<tr>") == 5
    assert "<td>filtered, infused</td><td>0.5000</td>" in html


def test_it_is_a_dict_with_all_figures() -> None:
    assert INFUSED["baseline"]["filtered"]["tail"] == {"mrr": 0.4}
    assert json.loads(json.dumps(INFUSED)) == INFUSED == dict(INFUSED)
