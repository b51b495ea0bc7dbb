"""Sentences that are shown to users."""

from mohone.core.errors import DataError, first_line


def test_a_sentence_is_one_line_whatever_is_named_in_it() -> None:
    assert (
        str(DataError("The file a\nb\u2028c\x0b.txt must be there."))
        == r"The file a\nb\u2028c\x0b.txt must be there."
    )
    assert str(DataError("東 \t must stay.")) == "東 \t must stay."


def test_the_first_line_of_any_error() -> None:
    assert [first_line(ValueError(text)) for text in ("", "\n a.\r\nb", "a\rb")] == ["", "a", "a"]
