from pathlib import Path

import pytest

from mohone.core.errors import ConfigError, DataError
from mohone.data.reading import read_triples


def write(folder: Path, content: bytes) -> Path:
    path = folder / "train.txt"
    path.write_bytes(content)
    return path


def test_names_are_kept_as_they_are(tmp_path: Path) -> None:
    path = write(tmp_path, b"00012345\t_hypernym\t00067890\n1\t_hypernym\t01\nNew York\tin\t USA \n")
    assert read_triples(path).triples == [
        ("00012345", "_hypernym", "00067890"),
        ("1", "_hypernym", "01"),
        ("New York", "in", " USA "),
    ]


def test_unicode_line_separators_are_part_of_names(tmp_path: Path) -> None:
    path = write(tmp_path, "a\u2028b\tr\x0b\t\u0141\u00f3d\u017a\r\n".encode())
    assert read_triples(path).triples == [("a\u2028b", "r\x0b", "\u0141\u00f3d\u017a")]


@pytest.mark.parametrize("content", [b"a\tr\tb\n", b"a\tr\tb", b"a\tr\tb\r\n", b"\xef\xbb\xbfa\tr\tb\n"])
def test_line_ends_and_byte_order_mark(tmp_path: Path, content: bytes) -> None:
    read = read_triples(write(tmp_path, content))
    assert (read.triples, read.n_blank) == ([("a", "r", "b")], 0)


def test_blank_lines_are_skipped_and_counted(tmp_path: Path) -> None:
    read = read_triples(write(tmp_path, b"a\tr\tb\n\nb\tr\tc\n  \n\n"))
    assert len(read.triples) == 2
    assert read.n_blank == 3


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"a\tr\tb\nb\tr\n", "line 2: found 2 fields, wanted 3"),
        (b"a\tr\tb\tc\n", "line 1: found 4 fields, wanted 3"),
        (b"a r b\n", r"line 1: found 1 field, wanted 3 \(head, relation, tail, tab-separated\)"),
        (b"a\t\tb\n", "line 1: the relation must be a name, but is empty"),
        (b"\t\t\n", "line 1: the head must be a name, but is empty"),
        (b"a\tr\tb\na\tr\xff\tb\n", "line 2: the text must be UTF-8, but holds the byte 0xFF"),
    ],
)
def test_faults_name_file_and_line(tmp_path: Path, content: bytes, message: str) -> None:
    with pytest.raises(DataError, match=f"train.txt, {message}"):
        read_triples(write(tmp_path, content))


def test_a_name_holds_no_tab(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="line 1: a name must not hold a tab, but one does"):
        read_triples(write(tmp_path, b"a\tx,r,b\n"), ",")


def test_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"nothing\.txt must be a file of triples, but does not exist"):
        read_triples(tmp_path / "nothing.txt")


def test_delimiter(tmp_path: Path) -> None:
    assert read_triples(write(tmp_path, b"a,r,b\n"), ",").triples == [("a", "r", "b")]
    with pytest.raises(ConfigError, match="must be one character"):
        read_triples(write(tmp_path, b"a,r,b\n"), ", ")
