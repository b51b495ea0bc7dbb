"""A function's latest answer, kept."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar

import numpy as np
import torch
from torch import Tensor

from mohone.core.parallel import Array

Answer = TypeVar("Answer")


class Latest(Generic[Answer]):
    """What a function gave last, given again as long as the same is asked for.

    Example:
        >>> import numpy as np
        >>> asked, latest = [], Latest()
        >>> total = lambda numbers: asked.append(1) or int(numbers.sum())
        >>> [latest(total, np.array(numbers)) for numbers in ([1, 2], [1, 2], [3])], len(asked)
        ([3, 3, 3], 2)
    """

    def __init__(self) -> None:
        self._kept: tuple[tuple[Tensor | Array, ...], Answer] | None = None

    def __call__(self, function: Callable[..., Answer], *arguments: Tensor | Array) -> Answer:
        """The function of arguments, which nobody writes to afterwards; it is the same one in each call."""
        if self._kept is None or not all(map(_are_equal, self._kept[0], arguments)):
            self._kept = arguments, function(*arguments)
        return self._kept[1]


def _are_equal(first: Tensor | Array, second: Tensor | Array) -> bool:
    if first is second:
        return True
    if isinstance(first, Tensor) and isinstance(second, Tensor):
        return torch.equal(first, second)
    return np.array_equal(first, second)
