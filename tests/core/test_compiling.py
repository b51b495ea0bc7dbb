import os
import stat
import tempfile
import time
from pathlib import Path

import pytest
from numba import njit

from mohone.core import compiling


@pytest.fixture
def nothing_can_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As for a user without a home and a package that was installed by another."""
    monkeypatch.delenv("NUMBA_CACHE_DIR", raising=False)
    monkeypatch.setattr(compiling, "_can_write", lambda _: False)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))


@pytest.mark.usefixtures("nothing_can_be_written")
def test_what_is_compiled_is_kept_where_nobody_else_writes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    compiling.find_cache()
    own = tmp_path / f"mohone-compiled-{os.getuid()}"
    assert os.environ["NUMBA_CACHE_DIR"] == str(own)
    assert stat.S_IMODE(own.stat().st_mode) == 0o700
    compiling.find_cache()  # As in a process that is started later.
    assert capsys.readouterr().err.count("compiled into") == 1
    own.chmod(0o777)  # Another may have made it, or laid something into it.
    monkeypatch.delenv("NUMBA_CACHE_DIR")
    compiling.find_cache()
    other = Path(os.environ["NUMBA_CACHE_DIR"])
    assert other != own
    assert stat.S_IMODE(other.stat().st_mode) == 0o700


def test_where_numba_finds_a_place_nothing_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("NUMBA_CACHE_DIR", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "new"))
    compiling.find_cache()
    assert "NUMBA_CACHE_DIR" not in os.environ
    assert capsys.readouterr().err == ""


def test_what_is_compiled_is_said_once_and_its_seconds_are_no_works(caplog: pytest.LogCaptureFixture) -> None:
    inner = njit(lambda x: x + 1)
    outer = njit(lambda x: inner(x) * 2)
    caplog.set_level("INFO", "mohone")
    start = time.perf_counter()
    with compiling.watched("walks") as first:
        assert outer(1) == 4
        assert inner(1.5) == 2.5
    whole = time.perf_counter() - start
    with compiling.watched("walks") as second:
        assert outer(2) == 6
    assert [record.getMessage() for record in caplog.records] == [
        "walks: compiling loops (once: they are kept)"
    ]
    assert 0 < first.seconds < first.compiling < first.seconds + first.compiling <= whole
    assert second.compiling == 0 < second.seconds
