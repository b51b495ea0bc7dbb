"""What test results are told in, and which figures have a p-value; without torch, for those who only read."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

SETTINGS = ("filtered", "typed", "typed_train")
UNLINKED = "unlinked"  # Of data sets made so that it means something, see `link_prediction`.
ALL_SETTINGS = (*SETTINGS, UNLINKED)


def settings_in(figures: Mapping[str, Any]) -> tuple[str, ...]:
    """The settings that a result has figures in, in their usual order."""
    return tuple(setting for setting in ALL_SETTINGS if setting in figures)


class Metric(NamedTuple):
    """A figure that is the mean of a value of each query, so that its gain can be tested query by query.

    Attributes:
        label: for tables.
        of_ranks: the value of each query by its rank, `(n,)` to `(n,)`; true or false where it is a share.
    """

    label: str
    of_ranks: Callable[[Any], Any]


TESTED = {
    "mrr": Metric("MRR", lambda ranks: 1 / ranks),
    "hits@10": Metric("Hits@10", lambda ranks: ranks <= 10),
}
