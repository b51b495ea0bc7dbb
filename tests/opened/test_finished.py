"""What can be done with a job that has ended: its vectors by name, its answers to a query."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from mohone import export, predict
from mohone.core.named_vectors import read_vectors
from mohone.data.queries import ASKED
from mohone.evaluation.best_answers import Wanted, best_answers
from mohone.evaluation.link_prediction import LinkPrediction
from mohone.opened.finished import FinishedJob, open_job
from tests.helpers.commands import TINY, mohone


@pytest.fixture(scope="module")
def job(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("ended")
    ran = mohone(folder, "kge_model=transd", *TINY, "infusion.beta=[0.2]", "hydra.run.dir=job")
    assert ran.returncode == 0, ran.stderr
    return folder / "job"


@pytest.fixture(scope="module")
def opened(job: Path) -> FinishedJob:
    return open_job(job)


@pytest.mark.parametrize("kind", ["model", "baseline", "network"])
def test_vectors_are_written_with_their_names(
    job: Path, opened: FinishedJob, tmp_path: Path, kind: str
) -> None:
    out = tmp_path / "new" / "v.npz"
    assert export.main([str(job), str(out), "--of", kind]) == 0
    names, vectors = read_vectors(out)
    assert names == list(opened.kg.entities.names)
    stage = {"model": "infusion", "baseline": "baseline", "network": "netemb"}[kind]
    folder = opened.runner.plan.store.root / stage / opened.runner.keys[stage]
    (file,) = folder.glob("*.pt")
    kept = torch.load(file, weights_only=True)
    assert torch.equal(vectors, kept if kind == "network" else kept["entity"])


@pytest.mark.parametrize(("side", "asked"), [("tail", "--head"), ("head", "--tail")])
def test_answers_are_the_best_by_the_plain_formula(
    job: Path, opened: FinishedJob, capsys: pytest.CaptureFixture[str], side: str, asked: str
) -> None:
    head, relation, tail = opened.kg.test[3].tolist()
    names, known = opened.kg.entities.names, opened.kg.triples("train", "valid", "test").tolist()
    loop = []
    for i, name in enumerate(names):
        triple = [head, relation, i] if side == "tail" else [i, relation, tail]
        score = float(opened.model.score_triples(*torch.tensor(triple)[:, None]))
        if triple not in known:
            loop.append((-score, name))
    entity = names[head if side == "tail" else tail]
    given = [str(job), "--relation", opened.kg.relations.names[relation], asked, entity, "--own"]
    assert predict.main([*given, "--top", "5"]) == 0
    rows = [line.split("\t") for line in capsys.readouterr().out.splitlines()]
    assert len(rows) == 5
    assert [float(score) for _, score in rows] == pytest.approx([-x for x, _ in sorted(loop)[:5]], abs=1e-3)
    assert predict.main([*given, "--top", "9999", "--known", "--baseline"]) == 0
    rows = [line.split("\t") for line in capsys.readouterr().out.splitlines()]
    assert len(rows) == len(names)
    assert [names[tail if side == "tail" else head], "test"] in [[name, split] for name, _, split in rows]
    assert sum(not split for *_, split in rows) == len(loop)


def test_an_answer_stands_where_evaluation_ranks_it(opened: FinishedJob) -> None:
    ranks = LinkPrediction(opened.kg, "test", ("filtered",)).ranks(opened.model)["filtered"]
    head, relation, tail = opened.kg.test[7].tolist()
    wanted = Wanted(999, known=True, own=True)
    answers = best_answers(opened.model, opened.kg, (head, relation, ASKED), wanted)
    place = next(i for i, answer in enumerate(answers) if answer.name == opened.kg.entities.names[tail])
    before = sum(not answer.split for answer in answers[:place])
    assert ranks.optimistic[7] <= before + 1 <= ranks.pessimistic[7]


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--relation", "loves", "--head", "virus"], "`--relation` must be a name of the data set, but"),
        (["--relation", "affects", "--tail", "nobody"], "`--tail` must be a name of the data set, but"),
        (["--relation", "affects", "--head", "virus", "--top", "0"], "`top` must be an integer >= 1"),
        (["--relation", "affects"], "Two of `--head`, `--relation` and `--tail` must be given"),
        (["--relation", "affects", "--queries", "q"], "`--queries` must be given without `--relation`"),
        (["--head", "virus", "--tail", "virus", "--why"], "`--why` must be asked of heads or tails"),
        (["--queries", "none"], "`--queries` must be a file, but none is none"),
    ],
)
def test_what_cannot_be_asked_is_refused(
    job: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], sentence: str
) -> None:
    assert predict.main([str(job), *arguments]) == 1
    assert sentence in capsys.readouterr().err


def test_what_is_no_job_is_refused(job: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert export.main([str(job), str(tmp_path / "v.csv")]) == 1
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken/result.json").write_text("{")
    (tmp_path / "file").touch()
    assert export.main([str(tmp_path / "broken"), str(tmp_path / "v.npz")]) == 1
    assert export.main([str(job), str(tmp_path / "file/v.npz")]) == 1
    shutil.copytree(job, tmp_path / "other")
    result = json.loads((job / "result.json").read_text())
    result["config"]["seed"] = 1
    (tmp_path / "other/result.json").write_text(json.dumps(result))
    assert export.main([str(tmp_path / "other"), str(tmp_path / "v.npz")]) == 1
    said = capsys.readouterr().err
    for sentence in (
        "must be one of .npz",
        "must be a result of this program",
        "File exists",
        "must be a job of its settings by this program",
    ):
        assert sentence in said


LIGHT = """
import sys
from mohone import export, neighbors, predict

job, out = sys.argv[1:]
assert predict.main([job, "--relation", "affects", "--head", "virus"]) == 0
assert neighbors.main([job, "virus"]) == 0
assert export.main([job, out]) == 0
heavy = {"pytorch_lightning", "torch._dynamo", "scipy.stats", "sympy", "matplotlib"}
print(sorted(heavy & {*sys.modules}), file=sys.stderr)
"""


def test_what_only_training_wants_is_not_imported(job: Path, tmp_path: Path) -> None:
    ran = subprocess.run(
        [sys.executable, "-c", LIGHT, str(job), str(tmp_path / "v.npz")], capture_output=True, text=True
    )
    assert ran.returncode == 0, ran.stderr
    assert ran.stderr == "[]\n"
