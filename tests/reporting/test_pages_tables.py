"""The tables that README and pages show are those of the results kept beside them."""

from pathlib import Path

import pytest

from page_tables import main

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize(
    ("kept", "page"),
    [
        ("paper", "docs/tables.md"),
        ("evidence/strong", "README.md"),
        ("evidence/paper", "docs/evidence.md"),
    ],
)
def test_a_page_shows_the_kept_results(tmp_path: Path, kept: str, page: str) -> None:
    shown = (ROOT / page).read_text(encoding="utf-8")
    copy = tmp_path / "page.md"
    copy.write_text(shown, encoding="utf-8")
    assert main(ROOT / "outputs" / kept, copy) == 0
    assert copy.read_text(encoding="utf-8") == shown
    assert "| TransE" in shown


def test_a_text_without_marks_is_left_alone(tmp_path: Path) -> None:
    copy = tmp_path / "README.md"
    copy.write_text("no marks", encoding="utf-8")
    with pytest.raises(ValueError, match="not enough values"):
        main(ROOT / "outputs" / "paper", copy)
    assert copy.read_text(encoding="utf-8") == "no marks"
