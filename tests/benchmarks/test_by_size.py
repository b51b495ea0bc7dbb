"""The cost of jobs by size, from results that were made up."""

from pathlib import Path

import pytest

from benchmarks import by_size
from mohone.core.files import write_json


def test_each_stage_has_a_row_and_each_size_a_column(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for n in (300_000, 100_000):
        write_json(
            tmp_path / str(n) / "result.json",
            {
                "dataset": {"n_entities": n, "n_train": 4.5 * n},
                "baseline": {"filtered": {"mrr": 0.25}},
                "infused": {"filtered": {"mrr": 0.5}},
                "seconds": {"netemb": n / 1000},
                "cpu_seconds": {"netemb": n / 500, "baseline": 3.0},
                "peak_gb": {"netemb": n / 1e5},
            },
        )
    by_size.main([str(tmp_path / "300000"), str(tmp_path / "100000"), "--out", str(tmp_path / "out")])
    text = (tmp_path / "out/by_size.md").read_text()
    assert text.strip() == capsys.readouterr().out.strip()
    cells = [[cell.strip() for cell in line.split("|")[1:-1]] for line in text.splitlines() if "|" in line]
    assert cells[0] == ["", "0.1 M entities, 0.45 M triples", "0.3 M entities, 1.35 M triples"]
    assert cells[2] == ["network embedding", "200 s, 100 s, 1.00 GB", "600 s, 300 s, 3.00 GB"]
    assert cells[3] == ["training", "3.00 s, -, -", "3.00 s, -, -"]
    assert cells[-1] == ["with evidence", "0.500", "0.500"]
    assert cells[-2] == ["with the frequency of answers alone", "-", "-"]
    assert (tmp_path / "out/by_size.png").stat().st_size > 1000
