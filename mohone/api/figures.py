"""Figures of link prediction: nested dicts for use, a small table for eyes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from html import escape
from typing import Any

from mohone.evaluation.settings import settings_in
from mohone.reporting.jobs import star
from mohone.reporting.markdown import table

_COLUMNS = {
    "mrr": ("MRR", ".4f"),
    "hits@1": ("Hits@1", ".4f"),
    "hits@3": ("Hits@3", ".4f"),
    "hits@10": ("Hits@10", ".4f"),
    "mr": ("MR", ".1f"),
    "amri": ("AMRI", ".4f"),
}


class Figures(dict[str, Any]):
    """What `evaluate` returns: a dict that shows its main figures only; all others are there by their keys.

    Example:
        >>> Figures({"filtered": {"mrr": 0.5, "hits@10": 1.0, "tail": {"mrr": 0.4}}})
        |          | MRR    | Hits@10 |
        | -------- | ------ | ------- |
        | filtered | 0.5000 | 1.0000  |
    """

    def __repr__(self) -> str:
        return table(self._header, list(self._rows())).rstrip("\n")

    def _repr_html_(self) -> str:
        """The same table, for notebooks."""
        head = "".join(f"<th>{escape(each)}</th>" for each in self._header)
        body = "".join(
            f"<tr>{''.join(f'<td>{escape(each)}</td>' for each in row)}</tr>" for row in self._rows()
        )
        return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"

    @property
    def _metrics(self) -> list[str]:
        settings = [self[setting] for setting in settings_in(self)]
        return [key for key in _COLUMNS if all(key in figures for figures in settings)]

    @property
    def _header(self) -> list[str]:
        gain = ["gain in MRR", "p"] if "significance" in self else []
        return ["", *(_COLUMNS[key][0] for key in self._metrics), *gain]

    def _rows(self) -> Iterator[list[str]]:
        """A row for each setting; of an infused model first its baseline's."""
        for setting in settings_in(self):
            if "significance" not in self:
                yield [setting, *self._cells(self[setting])]
                continue
            test = self["significance"][setting]["mrr"]
            yield [f"{setting}, baseline", *self._cells(self["baseline"][setting]), "", ""]
            gain = [f"{test['delta']:+.4f}{star(test)}", f"{test['p_value']:.2g}"]
            yield [f"{setting}, infused", *self._cells(self[setting]), *gain]

    def _cells(self, figures: Mapping[str, Any]) -> list[str]:
        return [format(figures[key], _COLUMNS[key][1]) for key in self._metrics]
