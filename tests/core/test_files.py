import errno
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from mohone.core.files import full_disk, making, making_once, read_json, replacing, write_json
from mohone.core.terminal import exit_code


def test_json_round_trip(tmp_path: Path) -> None:
    write_json(tmp_path / "a" / "x.json", {"é": [1, 2.5, None]})
    assert read_json(tmp_path / "a" / "x.json") == {"é": [1, 2.5, None]}


def test_a_failed_write_leaves_the_old_file_alone(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    write_json(path, {"a": 1})
    with pytest.raises(ValueError, match="not JSON compliant"):
        write_json(path, {"a": float("nan")})

    def fail() -> None:
        with replacing(path) as part:
            part.write_text("half")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fail()
    assert read_json(path) == {"a": 1}
    assert list(tmp_path.iterdir()) == [path]


def test_a_folder_is_whole_or_absent(tmp_path: Path) -> None:
    folder = tmp_path / "in" / "new"

    def make(then: Exception | None) -> None:
        with making(folder) as part:
            (part / "a").write_text("a", encoding="utf-8")
            if then:
                raise then

    with pytest.raises(KeyError):
        make(KeyError())
    assert list(folder.parent.iterdir()) == []
    make(None)
    with pytest.raises(OSError, match="not empty"):
        make(None)
    assert [path.name for path in folder.parent.rglob("*")] == ["new", "a"]


def test_what_torch_says_on_a_full_disk_is_known(tmp_path: Path) -> None:
    error = RuntimeError("[enforce fail at inline_container.cc:672] . unexpected pos 32832 vs 32784")
    assert full_disk(error, (tmp_path / "none", tmp_path)) == tmp_path
    assert full_disk(RuntimeError("shapes cannot be multiplied"), (tmp_path,)) is None


@pytest.mark.parametrize("write", [replacing, making, lambda path: making_once(path, Path.is_dir)])
def test_a_full_disk_is_told_with_what_was_to_be_written(
    tmp_path: Path, write: Callable[[Path], Any], capsys: pytest.CaptureFixture[str]
) -> None:
    def work() -> None:
        with write(tmp_path / "out"):
            raise OSError(errno.ENOSPC, "No space left on device")  # As the system says it of an open file.

    assert exit_code(work) == 1
    said = capsys.readouterr().err
    assert said == f"There must be room on the disk of {tmp_path / 'out'}, but it is full.\n"
    assert not list(tmp_path.iterdir())


def test_of_folders_on_several_disks_the_fullest_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Usage(NamedTuple):
        free: int

    store, job = tmp_path / "store", tmp_path / "job"
    for folder in (store, job):
        folder.mkdir()
    monkeypatch.setattr(shutil, "disk_usage", lambda folder: Usage(0 if folder == job else 1 << 40))
    assert full_disk(OSError(errno.ENOSPC, "No space left on device"), (store, job)) == job


KILLED = """
import os, pathlib, sys
from mohone.core.files import making, making_once, replacing
write = {"replacing": replacing, "making": making, "making_once": lambda path: making_once(path, path.is_dir)}
held = write[sys.argv[1]](pathlib.Path(sys.argv[2]))
held.__enter__()
print(os.getpid(), flush=True)
os.kill(os.getpid(), 9)
"""


@pytest.mark.parametrize("kind", ["replacing", "making", "making_once"])
@pytest.mark.parametrize("name", ["x", "[x]*", "é" * 127])
def test_what_a_killed_process_began_is_cleared(tmp_path: Path, kind: str, name: str) -> None:
    path = tmp_path / name
    killed = subprocess.run([sys.executable, "-c", KILLED, kind, path], capture_output=True, text=True)
    (begun,) = tmp_path.iterdir()
    of_another = tmp_path / begun.name.replace(f"-{killed.stdout.strip()}-", f"-{os.getpid()}-")
    assert of_another != begun
    of_another.mkdir()  # Which runs.
    write = {"replacing": replacing, "making": making}.get(kind, lambda path: making_once(path, Path.is_dir))
    with write(path):
        pass
    assert sorted(tmp_path.iterdir()) == sorted([path, of_another])
