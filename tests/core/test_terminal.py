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


@pytest.mark.parametrize(
    ("encoding", "shown"),
    [
        ("ascii", "v/\\u0141\\xf3d\\u017a.txt"),
        ("latin-1", "v/\\u0141\\xf3d\\u017a.txt"),
        ("utf-8", "v/Łódź.txt"),
    ],
)
def test_a_path_that_python_did_not_decode_is_shown_as_the_name_it_is(
    monkeypatch: pytest.MonkeyPatch, encoding: str, shown: str
) -> None:
    stream = io.TextIOWrapper(io.BytesIO(), encoding=encoding)
    monkeypatch.setattr(sys, "stdout", stream)
    prepare_terminal()
    print("v/Łódź.txt".encode().decode("ascii", "surrogateescape"), end="", flush=True)
    assert stream.buffer.getvalue().decode(encoding) == shown  # type: ignore[attr-defined]


def test_what_is_no_text_at_all_is_escaped(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = io.TextIOWrapper(io.BytesIO(), encoding="utf-8")
    monkeypatch.setattr(sys, "stdout", stream)
    prepare_terminal()
    print("a\udcff", end="", flush=True)
    assert stream.buffer.getvalue() == rb"a\udcff"  # type: ignore[attr-defined]
