"""What a user may do wrong, or a machine: one sentence, nothing left behind, and the same command goes on."""

import errno
import os
import shlex
from pathlib import Path
from typing import Any

import pytest
from hydra.core.override_parser.overrides_parser import OverridesParser

from mohone.configuration.hydra_errors import typed_line, typed_values
from tests.helpers.commands import TINY, mohone, results

BASELINE = ["netemb=none", *[setting for setting in TINY if "netemb" not in setting], "hydra.run.dir=here"]


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["kge_model=nosuch"], "`kge_model` must be one of analogy, complex,"),
        (["dataset=nosuch"], "`dataset` must be one of "),
        (["-m", "kge_model=transe,nosuch"], "`kge_model` must be one of analogy, complex,"),
        (["kge_model.dimm=3"], "`kge_model.dimm` must be one of dim, "),
        (["+kge_model.dimm=3"], "`kge_model.dimm` must be one of dim, "),
        (["dim=0"], "`dim` must be an integer >= 1, but is 0."),
        (["netemb=node2vec", "netemb.p=0"], "`netemb.p` must be > 0, but is 0."),
        (["netemb.objective=some"], "`netemb.objective` must be one of auto, exact, sampled, but is 'some'."),
        (["graph.weighting=sum"], "`network.weighting` must be one of binary, count, weight, but is 'sum'."),
        (["sparse=scipy"], "`sparse` must be one of torch, torch_sparse, but is 'scipy'."),
        (["netemb.dim=0"], "`netemb.dim` must be an integer >= 1, but is 0."),
        (["infusion.beta=-1"], "`infusion.beta` must be >= 0, but is -1."),
        (["training.lr=fast"], "`training.lr` must be a number > 0, but is 'fast'."),
        (["trainer.accelerator=abacus"], "`trainer` must suit Lightning's Trainer"),
        (["training.lr=inf"], "`training.lr` must be > 0, but is inf."),
        (["netemb.scale=[1,1e308]"], "`netemb.scale` must be below 1e+30, but is not."),
        (["netemb.scale=1e7"], "`netemb.scale` must be at most 1e+06, but is 1e+07."),
        (["infusion.beta=1e308"], "`infusion.beta` must be below 1e+30, but is not."),
        (
            ["training=one_vs_all", "training.n_candidates=10000000000"],
            "`training.n_candidates` must be an integer <= 2147483647, but is 10000000000.",
        ),
        (["netemb.scale=0"], "`netemb.scale` must be > 0, but is 0."),
        (["kge_model.reciprocal=no"], "`kge_model.reciprocal` must be true or false, but is 'no'."),
        (["progress=no"], "`progress` must be true or false, but is 'no'."),
        (["+sed=7"], "`sed` must be one of seed, dataset, kge_model"),
        (["+logger.foo=1"], "`logger.foo` must be left out, for there is no key here"),
        (["dim=${nosuch}"], "nosuch"),
        (["trainer.devices=2"], "`trainer.strategy` must be a ddp_spawn one with 2 devices, but is 'auto'"),
        (["seed=4294967296"], "`seed` must be an integer <= 4294967295, but is 4294967296."),
        (["seed=-1"], "`seed` must be an integer >= 0, but is -1."),
        (["training.lrr=1"], "`training.lrr` must be one of lr, "),
        (["+training.lrr=1"], "`training.lrr` must be one of lr, "),
        (["netemb.scalee=1"], "`netemb.scalee` must be one of scale, "),
        (["dimm=3"], "`dimm` must be one of dim, "),
        (["dim=abc"], "`dim` must be an integer >= 1, but is 'abc'."),
        (["training.max_epochs=-3"], "`training.max_epochs` must be an integer >= 1, but is -3."),
        (
            ["training.optimizer=adamm"],
            "`training.optimizer` must be one of adam, adagrad, sgd, but is 'adamm'.",
        ),
        (
            ["training.schedule=linearr"],
            "`training.schedule` must be one of constant, linear, but is 'linearr'.",
        ),
        (["netemb=null"], "`netemb` must be one of deepwalk, node2vec, none, shnb, struct, but is null."),
        (["-m", "netemb=shnb,null"], "struct, but is shnb,null."),
        (["training=3"], "`training` must be one of k_vs_all, negative_sampling, one_vs_all, but is 3."),
        (["experiment=null"], "but is null."),
        (
            ["~dataset"],
            "`dataset` must be one of fb15k237, folder, kinships, umls, wn18rr, but is taken away.",
        ),
        (["netemb"], "`netemb` must be GROUP=CHOICE or KEY=VALUE, but has no `=`."),
        (["=3"], "`=3` must be GROUP=CHOICE or KEY=VALUE, but names nothing."),
        (["hydra=null"], "`hydra` must be set by its keys, as in hydra.run.dir=DIR, but as a whole is null."),
        (["~hydra"], "but as a whole is taken away."),
        (["-m", "hydra.launcher=null", "seed=1,2"], "`hydra.launcher` must be set by its keys, "),
        (
            ["hydra/launcher=null"],
            "`hydra/launcher` must be one of joblib, ray, submitit_local, submitit_slurm, but is null.",
        ),
        (["recipe/model=3"], "`recipe/model` must be the name of a choice, but is 3."),
        (["callbacks=[3]"], "`callbacks` must be a list of groups with a `_target_`, but is [3]."),
        (["trainer.precision=16-true"], "`trainer.precision` must be one of 32-true, "),
        (["training.optimizer._target_=torch.optim.SparseAdam"], "`training.optimizer` must take dense grad"),
        (
            ["training.scheduler._target_=torch.optim.lr_scheduler.ReduceLROnPlateau"],
            "`training.scheduler` must go by batches, but ReduceLROnPlateau goes by a figure of each epoch.",
        ),
        (
            ["infusion=evidence", "infusion.experts=[votes,votes]"],
            "`infusion.experts` must name each once, b",
        ),
        (
            ["infusion=evidence", "infusion.longest=5"],
            "`infusion.longest` must be auto or a number from 1 to",
        ),
        (["infusion=evidence", "infusion.scales=[]"], "`infusion.scales` must have a value, but is empty."),
        (["infusion=evidence", "infusion.folds=101"], "`infusion.folds` must be an integer <= 100, but is 1"),
        (["dataset=folder", "dataset.path="], "`dataset.path` must be a path, but is ''."),
        (["store_dir="], "`store_dir` must be a path, but is ''."),
        (["dataset=folder", "dataset.path=[a]"], "`dataset.path` must be a path, but is ['a']."),
        (
            ["dataset=folder", "dataset.path=a,b"],
            "a sweep's (`mohone.run -m`); if the comma is its own, type \"dataset.path='a,b'\".",
        ),
        (
            ["-m", "dataset=folder", "dataset.path=runs/lr=0.1,B"],
            "must have its values in quotes: type \"dataset.path='runs/lr=0.1','B'\"; "
            "if the comma is its own, type \"dataset.path='runs/lr=0.1,B'\".",
        ),
        (
            ["dataset=folder", "dataset.path=runs/lr=0.1,B"],
            "must have its value in quotes: type \"dataset.path='runs/lr=0.1,B'\".",
        ),
        (["dataset=folder", "dataset.path=/x/Łódź"], "in quotes: type \"dataset.path='/x/Łódź'\"."),
    ],
)
def test_a_value_that_cannot_be_ends_in_one_sentence_before_any_data_are_read(
    tmp_path: Path, arguments: list[str], sentence: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mohone.data.datasets.read_triples", lambda *_: pytest.fail("data are read"))
    ran = mohone(tmp_path, *arguments)
    said = ran.stdout + ran.stderr
    assert ran.returncode == 1, said
    assert sentence in said
    assert "Traceback" not in said
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["store_dir=/dev/null"], "`store_dir` must be a folder that can be written, but /dev/null is not"),
        (["dataset=folder"], "`dataset.path` must be a folder with train, valid and test files, but "),
        (["dataset=folder", "dataset.path=no"], "`dataset.path` must be a folder, but"),
        (["dataset=wn18rr", "data_dir=empty"], "wn18rr/train.txt, which is not there"),
    ],
)
def test_what_is_not_there_is_said_before_any_work(
    tmp_path: Path, arguments: list[str], sentence: str
) -> None:
    ran = mohone(tmp_path, *arguments)
    said = ran.stdout + ran.stderr
    assert ran.returncode == 1, said
    assert sentence in said
    assert "Traceback" not in said
    assert list((tmp_path / "outputs/store").rglob("*.pt")) == []
    assert {path.name for path in tmp_path.iterdir()} <= {"outputs"}  # No empty folder of data.
    assert all(job["status"] == "failed" for job in results(tmp_path))
    assert not results(tmp_path) or not arguments[0].startswith("dataset=folder")


@pytest.mark.parametrize(
    "path", ["/x/Łódź", "runs/lr=0.1", "a,b", "/x/#a", "a(1)", "[a]", "{a}", "it's", 'a"b', "$x y"]
)
def test_the_line_to_type_gives_the_path(path: str) -> None:
    (word,) = shlex.split(typed_line(f"dataset.path={path}"))
    (override,) = OverridesParser.create().parse_overrides([word])
    assert override.value() == path


@pytest.mark.parametrize(
    "paths",
    [["runs/lr=0.1", "B"], ["'a,b'", "x=1"], ["it's=1", "b"], ["Łódź", 'a"b', "$x y"], ["a(1)", "[b]"]],
)
def test_the_line_to_type_for_a_sweep_gives_each_path(paths: list[str]) -> None:
    (word,) = shlex.split(typed_values(f"dataset.path={','.join(paths)}"))
    (override,) = OverridesParser.create().parse_overrides([word])
    assert override.is_sweep_override()
    assert [value.strip("'") for value in paths] == [
        shlex.split(x)[0] for x in override.sweep_string_iterator()
    ]


@pytest.mark.parametrize(
    ("argument", "sentence"),
    [
        ("dim=abc,8", "`dim` must be an integer >= 1, but is 'abc'."),
        ("training.lr=0.1,abc", "`training.lr` must be a number > 0, but is 'abc'."),
        ("sparse=torch,scipy", "`sparse` must be one of torch, torch_sparse, but is 'scipy'."),
    ],
)
def test_a_sweep_with_a_value_that_cannot_be_does_not_begin(
    tmp_path: Path, argument: str, sentence: str
) -> None:
    ran = mohone(tmp_path, "-m", "seed=1,2", argument)
    assert ran.returncode == 1
    assert ran.stderr == f"{sentence} No job was started.\n"
    assert list(tmp_path.iterdir()) == []


def test_the_version_is_ours(tmp_path: Path) -> None:
    assert mohone(tmp_path, "--version").stdout == "mohone 0.1.0\n"


def test_a_precision_that_a_cpu_lacks_is_said_as_it_was_trained(tmp_path: Path) -> None:
    ran = mohone(tmp_path, *BASELINE, "trainer.precision=16-mixed")
    assert ran.returncode == 0, ran.stderr
    assert "a CPU has no 16-mixed; trained in bf16-mixed" in ran.stdout
    same = mohone(tmp_path, *BASELINE, "trainer.precision=bf16-mixed")
    assert "skipped: this job has ended before" in same.stdout
    (result,) = results(tmp_path)
    assert result["config"]["trainer"]["precision"] == "bf16-mixed"


def test_a_file_system_without_locks_is_named_with_a_way_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def acquire(*_: Any, **__: Any) -> None:
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

    monkeypatch.setattr("mohone.core.files.FileLock.acquire", acquire)
    for more in ([], ["-m", "hydra.sweep.dir=sweep"]):
        ran = mohone(tmp_path, *more, *BASELINE)
        assert ran.returncode == 1
        assert f"{tmp_path}/{'sweep/0' if more else 'here'}/.lock must lie on a file system" in ran.stdout
        assert "`store_dir`" in ran.stdout
        assert "Traceback" not in ran.stdout + ran.stderr


@pytest.mark.parametrize(
    "error",
    [
        OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), "outputs/store"),
        RuntimeError("PytorchStreamWriter failed writing file data/0: file write failed"),
    ],
)
def test_a_full_disk_is_said_and_then_the_same_command_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    def full(*_: Any) -> None:
        raise error

    def no_room(*_: Any) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as disk:
        disk.setattr("mohone.experiment.stages.baseline.save_weights", full)
        disk.setattr("mohone.core.files._LEAST_SPACE", 1 << 60)  # Every disk is full.
        disk.setattr("mohone.run.write_failed", no_room)
        ran = mohone(tmp_path, *BASELINE)
    said = ran.stdout + ran.stderr
    assert ran.returncode == 1
    assert "There must be room on the disk of " in said
    assert "outputs/store, but it is full" in said
    assert "Traceback" not in said
    assert mohone(tmp_path, *BASELINE).returncode == 0
    (result,) = results(tmp_path)
    assert result["status"] == "ok"


@pytest.mark.parametrize(
    "error",
    [
        MemoryError("Unable to allocate 9 TiB for an array"),
        RuntimeError("[enforce fail] DefaultCPUAllocator: can't allocate memory: 9 bytes.\nframe #0"),
    ],
)
def test_memory_that_is_not_there_is_said_in_a_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    def none_left(*_: Any, **__: Any) -> None:
        raise error

    monkeypatch.setattr("mohone.training.fit.fit", none_left)
    ran = mohone(tmp_path, *BASELINE)
    assert ran.returncode == 1
    assert "There must be memory for all that the job holds, but: " in ran.stdout
    assert "Traceback" not in ran.stdout + ran.stderr
    assert "frame #0" not in ran.stdout


def test_folders_of_a_sweep_may_be_named_by_number_and_choice(tmp_path: Path) -> None:
    names = "hydra.sweep.subdir=${hydra:runtime.choices.kge_model}-${hydra.job.num}"
    tiny = [each for each in TINY if "netemb" not in each and "infusion" not in each]
    ran = mohone(
        tmp_path, "-m", "seed=0,1", "netemb=none", "infusion=none", "hydra.sweep.dir=s", names, *tiny
    )
    assert ran.returncode == 0, ran.stderr
    assert {path.parent.name for path in (tmp_path / "s").rglob("result.json")} == {"transe-0", "transe-1"}


def test_values_may_refer_to_where_the_job_runs(tmp_path: Path) -> None:
    ran = mohone(
        tmp_path, *BASELINE, "store_dir=${hydra:runtime.output_dir}/s-${hydra:runtime.choices.kge_model}"
    )
    assert ran.returncode == 0, ran.stderr
    assert (tmp_path / "here/s-transe/baseline").is_dir()


@pytest.mark.parametrize("name", [".lock", "run.log", "config.yaml", "result.json", "curves"])
def test_a_folder_or_file_in_the_place_of_a_jobs_own_is_named(tmp_path: Path, name: str) -> None:
    place = tmp_path / "here" / name
    place.parent.mkdir()
    wrong, right = (Path.touch, Path.unlink) if name == "curves" else (Path.mkdir, Path.rmdir)
    wrong(place)
    ran = mohone(tmp_path, *BASELINE, f"store_dir={tmp_path}/../store")
    assert ran.returncode == 1
    said = ran.stdout + ran.stderr
    assert f"here/{name} must be what can be read or written here, but: " in said
    assert "Traceback" not in said
    right(place)
    assert mohone(tmp_path, *BASELINE, f"store_dir={tmp_path}/../store").returncode == 0


@pytest.mark.parametrize("folder", ["file", "file/x", "/proc/x", "a" * 300])
def test_a_job_whose_folder_cannot_be_made_is_refused(tmp_path: Path, folder: str) -> None:
    (tmp_path / "file").touch()
    ran = mohone(tmp_path, *BASELINE[:-1], f"hydra.run.dir={folder}")
    assert (ran.returncode, ran.stdout) == (1, "")
    assert ran.stderr.startswith(f"{folder} must be what can be read or written here, but: ")
    assert len(ran.stderr.splitlines()) == 1


def test_a_folder_that_was_there_is_left_as_it_was_when_a_job_is_refused(tmp_path: Path) -> None:
    (tmp_path / "here").mkdir()
    ran = mohone(tmp_path, "dim=0", "hydra.run.dir=here")
    assert (ran.returncode, ran.stdout) == (1, "")
    assert ran.stderr == "`dim` must be an integer >= 1, but is 0.\n"
    assert list(tmp_path.rglob("*")) == [tmp_path / "here"]
