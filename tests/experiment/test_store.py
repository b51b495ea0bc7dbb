import contextlib
import multiprocessing
import os
import shutil
import signal
import time
from multiprocessing.synchronize import Barrier
from pathlib import Path

import pytest

from mohone.core.files import clear_parts, making_once, part_beside
from mohone.experiment.store import StageStore, stage_key

CONFIG = {"kge_model": {"dim": 3}, "training": {"lr": 0.1}}


def write(folder: Path) -> None:
    (folder / "model").write_text("whole")


def test_a_stage_is_built_once(tmp_path: Path) -> None:
    store = StageStore(tmp_path)
    first, reused = store.get("baseline", "k", write)
    again, reused_again = store.get("baseline", "k", lambda _: pytest.fail("built twice"))
    assert (first, reused, reused_again) == (again, False, True)
    assert (first / "model").read_text() == "whole"


def test_a_failed_stage_leaves_nothing(tmp_path: Path) -> None:
    def fail(folder: Path) -> None:
        write(folder)
        raise RuntimeError

    store = StageStore(tmp_path)
    with pytest.raises(RuntimeError):
        store.get("baseline", "k", fail)
    assert [path.name for path in (tmp_path / "baseline").iterdir() if path.is_dir()] == []
    assert store.get("baseline", "k", write)[1] is False


def build_slowly(root: Path) -> None:
    def slow(folder: Path) -> None:
        (folder / "model").write_text("half")
        time.sleep(60)

    StageStore(root).get("baseline", "k", slow)


def test_a_killed_stage_leaves_nothing_to_be_taken_for_whole(tmp_path: Path) -> None:
    process = multiprocessing.get_context("spawn").Process(target=build_slowly, args=(tmp_path,))
    process.start()
    while not list(tmp_path.glob("baseline/k.part-*/model")):
        time.sleep(0.05)
        assert process.is_alive()
    os.kill(process.pid or 0, signal.SIGKILL)
    process.join()
    folder, reused = StageStore(tmp_path).get("baseline", "k", write)
    assert reused is False
    assert (folder / "model").read_text() == "whole"
    assert [path.name for path in folder.parent.iterdir() if path.is_dir()] == ["k"]


def build_and_count(root: Path) -> None:
    def counted(folder: Path) -> None:
        with (root / "count").open("a") as file:
            file.write("x")
        time.sleep(0.5)
        write(folder)

    StageStore(root).get("baseline", "k", counted)


def test_two_jobs_build_a_stage_once(tmp_path: Path) -> None:
    context = multiprocessing.get_context("spawn")
    processes = [context.Process(target=build_and_count, args=(tmp_path,)) for _ in range(2)]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
        assert process.exitcode == 0
    assert (tmp_path / "count").read_text() == "x"


def build_without_common_locks(root: Path, name: str, both: Barrier) -> None:
    """As on a machine whose shared file system keeps locks to itself; builds while the other does."""

    def lock(self: StageStore, stage: str, key: str) -> contextlib.AbstractContextManager[None]:  # noqa: ARG001
        return contextlib.nullcontext()

    def build(folder: Path) -> None:
        both.wait(30)  # Both are at it.
        (folder / "model").write_text(name)
        both.wait(30)
        assert (folder / "model").read_text() == name  # Nobody took it away.

    StageStore.lock = lock  # type: ignore[method-assign]
    place, reused = StageStore(root).get("baseline", "k", build)
    assert not reused
    (root / name).write_text((place / "model").read_text())


def test_two_jobs_without_common_locks_both_end_with_the_same_stage(tmp_path: Path) -> None:
    context = multiprocessing.get_context("spawn")
    both, names = context.Barrier(2), ("a", "b")
    processes = [
        context.Process(target=build_without_common_locks, args=(tmp_path, name, both)) for name in names
    ]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
        assert process.exitcode == 0
    kept = (tmp_path / "baseline/k/model").read_text()
    assert kept in names
    assert [(tmp_path / name).read_text() for name in names] == [kept, kept]
    assert [path.name for path in (tmp_path / "baseline").iterdir() if path.is_dir()] == ["k"]


def test_a_whole_folder_stays_and_a_damaged_one_gives_way(tmp_path: Path) -> None:
    def is_whole(folder: Path) -> bool:
        return (folder / "model").exists()

    place = tmp_path / "k"
    for there, said in ((None, "mine"), ("half", "mine"), ("model", "there")):
        if there:
            shutil.rmtree(place)
            place.mkdir()
            (place / there).write_text("there")
        with making_once(place, is_whole) as part:
            (part / "model").write_text("mine")
        assert [path.name for path in tmp_path.iterdir()] == ["k"]
        assert [path.name for path in place.iterdir()] == ["model"]
        assert (place / "model").read_text() == said


def test_only_what_nobody_works_on_is_cleared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own = part_beside(tmp_path / "k")
    ended = multiprocessing.get_context("spawn").Process(target=int)
    ended.start()
    ended.join()
    dead = own.with_name(own.name.replace(f"-{os.getpid()}-", f"-{ended.pid}-"))
    monkeypatch.setattr("socket.gethostname", lambda: "another-machine")
    far, forgotten, other = (part_beside(tmp_path / name) for name in ("k", "k", "kk"))
    monkeypatch.undo()
    for each in (own, dead, far, forgotten, other):
        each.mkdir()
    os.utime(forgotten, (0, 0))
    clear_parts(tmp_path / "k")
    assert set(tmp_path.iterdir()) == {own, far, other}


def key(**changed: object) -> str:
    usual = {"stage": "s", "config": CONFIG, "fingerprint": "f", "seed": 0, "parents": ("p",)}
    return stage_key(**{**usual, **changed})  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "changed",
    [
        {"stage": "other"},
        {"config": {**CONFIG, "training": {"lr": 0.2}}},
        {"config": {**CONFIG, "more": 1}},
        {"fingerprint": "g"},
        {"seed": 1},
        {"parents": ()},
        {"parents": ("q",)},
    ],
)
def test_all_that_matters_is_in_the_key(changed: dict[str, object]) -> None:
    assert key(**changed) != key()


def test_the_order_of_keys_does_not_matter() -> None:
    assert key(config=dict(reversed(CONFIG.items()))) == key()


def test_a_key_that_came_later_changes_nothing_until_it_is_used() -> None:
    objective = {"_target_": "o", "n3": 0.1}
    before, off, on = (
        key(config={"training": {"objective": each, "lr": 0.1}})
        for each in (objective, {**objective, "relation_weight": 0.0}, {**objective, "relation_weight": 0.1})
    )
    assert off == before
    assert on != before
