"""The keys, choices and experts that `docs/evidence.md` names are those there are."""

import re
from pathlib import Path

from mohone.configuration.compose import compose_plain

PAGE = (Path(__file__).parents[1] / "docs/evidence.md").read_text(encoding="utf-8")


def test_keys_and_choices_of_the_text_are_those_there_are() -> None:
    node = compose_plain(["infusion=evidence"])["infusion"]
    named = set(re.findall(r"`infusion\.(\w+)", PAGE))
    assert {"experts", "first", "candidates", "penalty", "fit_on"} == named <= set(node)
    for choice in re.findall(r"`infusion=(\w+)`", PAGE):
        compose_plain([f"infusion={choice}"])
    experts = set(re.findall(r"^\| `(\w+)` \|", PAGE, re.MULTILINE))
    assert experts == {*node["experts"], "linked"}
