"""Files of queries and of labels."""

from pathlib import Path

import pytest

from mohone.core.errors import DataError
from mohone.data import KnowledgeGraph, from_triples
from mohone.data.labels import find_name, read_labels
from mohone.data.named_triples import read_known
from mohone.data.queries import ASKED, read_queries


def test_queries_come_in_batches_with_their_lines(base: KnowledgeGraph, tmp_path: Path) -> None:
    file = tmp_path / "q.tsv"
    file.write_bytes(b"\xef\xbb\xbfa\tr\t\r\n\n?\ts\tb\na\t?\td\n")
    batches = list(read_queries(file, base, size=2))
    assert [batch.triples.tolist() for batch in batches] == [[[0, 0, ASKED], [ASKED, 1, 1]], [[0, ASKED, 3]]]
    assert [batch.lines for batch in batches] == [[1, 3], [4]]


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        (b"a\tr\n", "a query must have 3 fields"),
        (b"a\tr\tb\n", "but has 3, 0 of them so"),
        (b"?\tr\t\n", "but has 3, 2 of them so"),
        (b"x\tr\t?\n", "the head must be a name of the data set, but 'x' is none"),
        (b"a\tx\t?\n", "the relation must be a name of the data set, but 'x' is none"),
        (b"a\tr\xff\t?\n", "the text must be UTF-8"),
    ],
)
def test_what_is_no_query_is_named_by_line(
    base: KnowledgeGraph, tmp_path: Path, line: bytes, sentence: str
) -> None:
    file = tmp_path / "q.tsv"
    file.write_bytes(b"a\tr\t?\n" + line)
    with pytest.raises(DataError, match=f"q.tsv, line 2: .*{sentence}"):
        list(read_queries(file, base))


def test_a_label_stands_for_its_name_if_it_is_one_names_own(
    base: KnowledgeGraph, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    file = tmp_path / "labels.tsv"
    file.write_text("a\tAnna\nb\tBert\nc\tBert\nd\ta\nz\tZoe\nno label\n", encoding="utf-8")
    labels = read_labels(file)
    assert find_name("--head", "Anna", base.entities, labels) == 0
    assert find_name("--head", "a", base.entities, labels) == 0  # A name comes before a label.
    for name, sentence in (("Bert", "is that of b, c"), ("Zoe", "is none"), ("x", "a name or label")):
        with pytest.raises(DataError, match=sentence):
            find_name("--head", name, base.entities, labels)
    assert read_labels(None) == {}
    assert caplog.messages == [f"{file}: 1 line without a label"]
    caplog.clear()
    file.write_text("a\tA\na\tB\na\tB\n", encoding="utf-8")
    assert read_labels(file) == {"a": "B"}
    assert caplog.messages == [f"{file}: 1 line with another label, too: the last one holds"]
    file.write_text("a,A\n", encoding="utf-8")
    with pytest.raises(DataError, match="must have lines of NAME<TAB>LABEL, but has none: 'a,A'"):
        read_labels(file)


def test_lines_of_labels_end_as_those_of_triples(tmp_path: Path) -> None:
    """What else ends a line to Python is a part of a name, or of a label."""
    file = tmp_path / "labels.tsv"
    file.write_bytes("\ufeffa\x0b1\tAnna\r\nb\tBen\u2028of\tB\nc\td\re".encode())
    assert read_labels(file) == {"a\x0b1": "Anna", "b": "Ben\u2028of\tB", "c": "d\re"}


def test_a_first_line_that_names_columns_is_none(
    base: KnowledgeGraph, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    queries, triples = tmp_path / "q.tsv", tmp_path / "t.tsv"
    queries.write_text("\n\nhead\trelation\ttail\na\tr\t?\n", encoding="utf-8")
    assert [batch.triples.tolist() for batch in read_queries(queries, base)] == [[[0, 0, ASKED]]]
    triples.write_text("subject\tpredicate\tobject\na\tr\tb\n", encoding="utf-8")
    assert read_known(triples, base).tolist() == [[0, 0, 1]]
    assert caplog.messages == [f"{triples}: the first line (subject, predicate, object) names columns."]
    triples.write_text("subject\tpredicate\tbject\na\tr\tb\n", encoding="utf-8")
    with pytest.raises(DataError, match="the head must be a name of the data set, but 'subject' is none"):
        read_known(triples, base)


def test_what_is_a_name_of_the_data_set_is_no_name_of_a_column(tmp_path: Path) -> None:
    kg = from_triples([("s", "p", "o")], valid=[("o", "p", "s")], test=[("o", "p", "o")])
    file = tmp_path / "t.tsv"
    file.write_text("s\tp\to\n", encoding="utf-8")
    assert read_known(file, kg).tolist() == [[1, 0, 0]]


def test_a_name_that_differs_in_its_unicode_normalisation_alone_is_told(
    base: KnowledgeGraph, tmp_path: Path
) -> None:
    decomposed, composed = "Zu\u0308rich", "Z\u00fcrich"
    kg = from_triples(
        [(composed, "liegt", "CH")], valid=[("CH", "liegt", composed)], test=[("CH", "liegt", "CH")]
    )
    file = tmp_path / "t.tsv"
    told = f"there is {composed!r}, which differs in its Unicode normalisation alone"
    sentence = rf"{decomposed!r} is none \({told}\)"
    file.write_text(f"CH\tliegt\t{decomposed}\n", encoding="utf-8")
    with pytest.raises(DataError, match=f"the tail must be a name of the data set, but {sentence}, in"):
        read_known(file, kg)
    file.write_text(f"{decomposed}\tliegt\t?\n", encoding="utf-8")
    with pytest.raises(DataError, match=f"the head must be a name of the data set, but {sentence}\\.$"):
        list(read_queries(file, kg))
    with pytest.raises(DataError, match=sentence):
        find_name("--head", decomposed, kg.entities, {})
    with pytest.raises(DataError, match=sentence):
        find_name("--head", decomposed, base.entities, {"a": composed})
    with pytest.raises(DataError, match=r"is none \(there is .* Unicode normalisation alone\)"):
        kg.entities.id_of(decomposed)
    assert "normalisation" not in kg.entities.names_like("Zurich")
