"""Loops on the threads that a process keeps."""

from __future__ import annotations

import os
import threading
import time

import pytest

from mohone.core.parallel import in_chunks


@pytest.mark.parametrize(("n", "threads"), [(0, 2), (1, 2), (7, 3), (1000, 4)])
def test_each_item_is_done_once(n: int, threads: int) -> None:
    done: list[int] = []
    in_chunks(lambda start, stop: done.extend(range(start, stop)), n, least=2, threads=threads)
    assert sorted(done) == list(range(n))


def test_threads_stay_and_a_loop_within_a_loop_ends() -> None:
    seen: set[str] = set()

    def outer(start: int, stop: int) -> None:
        in_chunks(lambda *_: seen.add(threading.current_thread().name), stop - start, least=1, threads=4)

    for _ in range(20):
        in_chunks(outer, 64, least=1, threads=4)
    assert 1 < len(seen) <= 1 + (os.cpu_count() or 1) + 4
    assert all(name.startswith("loops") or name == threading.current_thread().name for name in seen)


def test_an_error_is_raised_once_all_have_ended() -> None:
    ended: list[int] = []

    def loop(start: int, stop: int) -> None:  # noqa: ARG001
        if start == 0:
            raise ValueError("first")
        time.sleep(0.05)
        ended.append(start)

    with pytest.raises(ValueError, match="first"):
        in_chunks(loop, 90, least=1, threads=3)
    assert sorted(ended) == [30, 60]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="only where there are forks")
def test_a_fork_has_threads_of_its_own() -> None:
    in_chunks(lambda *_: None, 10, least=1, threads=2)
    child = os.fork()
    if child == 0:
        in_chunks(lambda *_: None, 10, least=1, threads=2)
        os._exit(7)
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        pid, status = os.waitpid(child, os.WNOHANG)
        if pid:
            assert os.waitstatus_to_exitcode(status) == 7
            return
        time.sleep(0.01)
    os.kill(child, 9)
    pytest.fail("the fork waits for threads that it does not have")
