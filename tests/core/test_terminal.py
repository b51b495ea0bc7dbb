import io
import os
import sys

import pytest

from mohone.core.terminal import prepare_terminal


def test_a_reader_may_leave(monkeypatch: pytest.MonkeyPatch) -> None:
    read, write = os.pipe()
    with os.fdopen(write, "w") as stream:
        monkeypatch.setattr(sys, "stdout", stream)
        prepare_terminal()
        print("first", flush=True)
        assert os.read(read, 99) == b"first\n"
        os.close(read)
        for _ in range(3):
            print("x" * 100_000)
            sys.stdout.flush()


def test_what_a_terminal_cannot_show_is_escaped(monkeypatch: pytest.MonkeyPatch) -> None:
    for encoding, shown in (("latin-1", "\\u0141\xf3d\\u017a"), ("ascii", "\\u0141\\xf3d\\u017a")):
        stream = io.TextIOWrapper(io.BytesIO(), encoding=encoding)
        monkeypatch.setattr(sys, "stdout", stream)
        prepare_terminal()
        print("Łódź", end="", flush=True)
        assert stream.buffer.getvalue().decode(encoding) == shown  # type: ignore[attr-defined]
