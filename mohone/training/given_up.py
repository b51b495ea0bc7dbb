"""When a training is given up: its best validation MRR is below what it must have reached by then."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from typing import Any

from mohone.core.errors import GivenUpError

Least = Sequence[tuple[int, float]]  # By epoch, in their order: the MRR that the best so far must have.
History = Sequence[Mapping[str, float | None]]  # `epoch`, from 1, and `valid_mrr` where it was validated.


def is_least(value: Any) -> bool:
    """Is it a list of pairs of an epoch >= 1 and an MRR from 0 to 1?

    Example:
        >>> is_least([[5, 0.3], [10, 0.35]]), is_least([[0, 0.3]]), is_least([[1, 2]]), is_least(0.3)
        (True, False, False, False)
    """
    return isinstance(value, list) and all(map(_is_epoch_and_mrr, value))


def _is_epoch_and_mrr(pair: Any) -> bool:
    if not isinstance(pair, list) or len(pair) != 2 or any(isinstance(each, bool) for each in pair):
        return False
    epoch, mrr = pair
    return isinstance(epoch, int) and epoch >= 1 and isinstance(mrr, int | float) and 0 <= mrr <= 1


def first_below(history: History, must_reach: Least, n_epochs: int) -> tuple[int, float, float] | None:
    """The first validation before the last epoch whose best MRR so far is below what must be reached by then.

    What holds after an epoch is the last that is given at it or before it.

    Args:
        history: of the training, all of its epochs so far.
        must_reach: the least MRR, by epoch.
        n_epochs: that it may have; at the last one nothing is left to spare.

    Returns:
        its epoch, its best MRR, and what that must have been; None: there is none.

    Example:
        >>> history = [{"epoch": 1, "valid_mrr": None}, {"epoch": 2, "valid_mrr": 0.1}]
        >>> first_below(history, [(1, 0.2)], 4)
        (2, 0.1, 0.2)
        >>> first_below(history, [(3, 0.2)], 4), first_below(history, [(2, 0.2)], 2)
        (None, None)
    """
    epochs = [epoch for epoch, _ in must_reach]
    best = float("-inf")
    for each in history:
        epoch, score = each["epoch"], each["valid_mrr"]
        if epoch is None or score is None:
            continue
        best = max(best, score)
        place = bisect_right(epochs, epoch) - 1
        if epoch < n_epochs and place >= 0 and best < must_reach[place][1]:
            return int(epoch), best, must_reach[place][1]
    return None


def check_course(history: History, must_reach: Least, n_epochs: int) -> None:
    """Refuse a training that was to be given up, by `first_below`.

    Raises:
        GivenUpError: it was.
    """
    if found := first_below(history, must_reach, n_epochs):
        raise GivenUpError(*found)
