"""The Python of the README and of `docs/python.md` runs as it is written there."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGES = ("README.md", "docs/python.md")


def test_the_lines_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The README's first: what it trains, the page finds in the store."""
    monkeypatch.chdir(tmp_path)
    for page in PAGES:
        text = (ROOT / page).read_text(encoding="utf-8")
        names: dict[str, object] = {}
        for block in re.findall(r"^```python\n(.*?)^```$", text, re.DOTALL | re.MULTILINE):
            exec(compile(block, page, "exec"), names)
    shown = capsys.readouterr().out
    assert "<week: 7 entities, 2 relations, 34 + 4 + 4 triples>" in shown
    before, after = map(float, shown.splitlines()[0].split())
    assert before < after  # Of TransE on UMLS: the quick start's table has it.
    assert (tmp_path / "here/result.json").is_file()
    assert (tmp_path / "from-python/result.json").is_file()
