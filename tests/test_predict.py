"""What is asked of a job that has ended, by command: several queries at once, neighbours."""

import json
from pathlib import Path

import pytest
import torch

from mohone import classify, neighbors, predict
from mohone.opened.finished import open_job
from tests.helpers.commands import TINY, mohone


@pytest.fixture(scope="module")
def job(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("ended")
    ran = mohone(folder, *TINY, "infusion.beta=[0.2]", "hydra.run.dir=job")
    assert ran.returncode == 0, ran.stderr
    return str(folder / "job")


def said(capsys: pytest.CaptureFixture[str], *arguments: str) -> list[list[str]]:
    assert predict.main(list(arguments)) == 0
    return [line.split("\t") for line in capsys.readouterr().out.splitlines()]


def test_each_of_several_heads_is_answered_as_if_asked_alone(
    job: str, capsys: pytest.CaptureFixture[str]
) -> None:
    alone = [said(capsys, job, "--relation", "affects", "--head", h, "--top", "3") for h in ("virus", "cell")]
    assert alone[0] != alone[1]
    both = said(capsys, job, "--relation", "affects", "--head", "virus", "--head", "cell", "--top", "3")
    assert both[0] == ["query", "head", "relation", "tail", "rank", "score"]
    assert [row[:3] for row in both[1:]] == [["1", "virus", "affects"]] * 3 + [["2", "cell", "affects"]] * 3
    assert [row[3] for row in both[1:]] == [row[0] for rows in alone for row in rows]
    assert [row[4] for row in both[1:]] == ["1", "2", "3"] * 2


def test_relations_are_answered(job: str, capsys: pytest.CaptureFixture[str]) -> None:
    given = job, "--head", "virus", "--tail", "bacterium", "--known", "--top", "99"
    assert len(said(capsys, *given)) == 46
    typed = said(capsys, *given, "--typed")
    assert 0 < len(typed) < 46


@pytest.mark.parametrize("ending", [".tsv", ".parquet"])
def test_a_file_of_queries_is_answered_by_a_table(
    job: str, capsys: pytest.CaptureFixture[str], tmp_path: Path, ending: str
) -> None:
    queries, labels, out = tmp_path / "q.tsv", tmp_path / "labels", tmp_path / f"answers{ending}"
    queries.write_text("virus\taffects\t?\n\n\tprocess_of\tvirus\nvirus\t?\tcell\n", encoding="utf-8")
    labels.write_text('virus\tA "Virus"\naffects\tdoes something to\n', encoding="utf-8")
    given = job, "--queries", str(queries), "--top", "99", "--known", "--labels", str(labels)
    rows = said(capsys, *given)
    said(capsys, *given, "--out", str(out))
    if ending == ".parquet":
        parquet = pytest.importorskip("pyarrow.parquet")
        table = parquet.read_table(out)
        assert [str(table.schema.field(name).type) for name in ("rank", "score")] == ["int64", "double"]
        kept = [table.column_names, *([str(x) for x in row.values()] for row in table.to_pylist())]
        assert [row[:5] + row[6:] for row in kept] == [row[:5] + row[6:] for row in rows]
    else:
        assert [line.split("\t") for line in out.read_text(encoding="utf-8").splitlines()] == rows
    assert {row[0] for row in rows[1:]} == {"1", "3", "4"}
    assert {row[7] for row in rows[1:] if "affects" in row} >= {"", "does something to"}
    assert {path.name for path in tmp_path.iterdir()} == {"q.tsv", "labels", out.name}


def test_a_fault_in_a_file_is_said_before_any_answer(
    job: str, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    queries, out = tmp_path / "q.tsv", tmp_path / "out.tsv"
    queries.write_text("virus\taffects\t?\n" * 5000 + "virus\tloves\t?\n", encoding="utf-8")
    assert predict.main([job, "--queries", str(queries), "--out", str(out)]) == 1
    shown = capsys.readouterr()
    assert "line 5001: the relation must be a name" in shown.err
    assert not shown.out
    assert not out.exists()
    assert predict.main([job, "--queries", str(queries), "--out", "out.csv"]) == 1
    assert "must be one of .tsv, .parquet" in capsys.readouterr().err


def test_neighbors_stand_side_by_side(job: str, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    labels = tmp_path / "labels"
    labels.write_text("virus\tThe virus\n", encoding="utf-8")
    given = [job, "The virus", "--top", "200", "--metric", "euclidean", "--labels", str(labels)]
    assert neighbors.main(given) == 0
    head, *rows = [line.split("\t") for line in capsys.readouterr().out.splitlines()]
    assert head == ["before", "euclidean", "after", "euclidean", "network", "euclidean"]
    opened = open_job(Path(job))
    names = list(opened.kg.entities.names)
    spaces = opened.baseline.entity_vectors, opened.model.entity_vectors, opened.network_vectors
    for column, vectors in zip((0, 2, 4), spaces, strict=True):
        distance = torch.cdist(vectors, vectors)[names.index("virus")]
        assert [row[column] for row in rows[:5]] == [names[i] for i in distance.argsort().tolist()[1:6]]
        assert float(rows[4][column + 1]) == pytest.approx(float(distance.sort().values[5]), abs=1e-3)
    assert len(rows) == len(names) - 1
    assert neighbors.main([job, "nobody"]) == 1
    assert "`NAME` must be a name of the data set" in capsys.readouterr().err


def test_triples_are_classified(
    job: str, capsys: pytest.CaptureFixture[str], tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    out, triples = tmp_path / "report.json", tmp_path / "triples.tsv"
    assert classify.main([job, "--out", str(out), "--typed"]) == 0
    report = json.loads(out.read_text(encoding="utf-8"))
    shown = capsys.readouterr().out
    assert report["n_true"] == 661 > report["n_false"] > 500
    assert f"accuracy           {report['accuracy']:.4f}" in shown
    kg = open_job(Path(job)).kg
    for split in ("valid", "test"):  # What is given, is taken: here the true ones, so that all must fail.
        lines = [
            f"{kg.entities.names[h]}\t{kg.relations.names[r]}\t{kg.entities.names[t]}\n"
            for h, r, t in getattr(kg, split).tolist()
        ]
        (tmp_path / f"{split}_negatives.csv").write_text("".join(lines), encoding="utf-8")
    assert classify.main([job, "--negatives", str(tmp_path)]) == 0
    assert "ROC-AUC            0.5000" in capsys.readouterr().out
    assert "test_negatives.csv: 661 triples of the data set, which count as false ones" in caplog.text
    header = "head\trelation\ttail\n"
    triples.write_text(f"{header}{''.join(lines[:2])}virus\taffects\tvirus\n", encoding="utf-8")
    assert classify.main([job, "--triples", str(triples)]) == 0
    head, *rows = [line.split("\t") for line in capsys.readouterr().out.splitlines()]
    assert head == ["head", "relation", "tail", "probability", "verdict", "split"]
    assert ["\t".join(row[:3]) + "\n" for row in rows[:2]] == lines[:2]
    assert [row[5] for row in rows] == ["test", "test", ""]
    assert {row[4] for row in rows} <= {"plausible", "implausible"}
    triples.write_text("virus\tloves\tvirus\n", encoding="utf-8")
    assert classify.main([job, "--triples", str(triples)]) == 1
    assert "the relation must be a name of the data set, but 'loves'" in capsys.readouterr().err


def test_newer_entities_are_answered_and_ranked(
    job: str, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    new = tmp_path / "new.txt"
    new.write_text("new_virus\taffects\tcell\nnew_virus\tisa\tvirus\n", encoding="utf-8")
    given = job, "--with", str(new), "--relation", "affects", "--top", "999"
    tails = [name for name, _ in said(capsys, *given, "--head", "new_virus")]
    assert tails
    assert "cell" not in tails  # It is known by now.
    heads = [name for name, _, _ in said(capsys, *given, "--tail", "cell", "--known")]
    assert "new_virus" in heads
    new.write_text("head\trelation\ttail\n" + new.read_text(encoding="utf-8"), encoding="utf-8")
    assert [name for name, _ in said(capsys, *given, "--head", "new_virus")] == tails
    assert predict.main([*given[:3], "--head", "virus", "--relation", "affects", "--why"]) == 1
    assert "`--why` must be asked without `--with`" in capsys.readouterr().err
    assert predict.main([job, "--head", "virus", "--relation", "affects", "--why"]) == 1
    told = "`--why` must be asked of a model with evidence, but this one is infused by retrofit."
    assert told in capsys.readouterr().err
