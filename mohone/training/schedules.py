"""Schedules of the learning rate by step: functions of an optimiser and the number of steps."""

from __future__ import annotations

from torch.optim import Optimizer
from torch.optim.lr_scheduler import LambdaLR, LRScheduler


def linear_decay(optimizer: Optimizer, n_steps: int) -> LRScheduler:
    """From the first learning rate down to 0 at the last step.

    Example:
        >>> import torch
        >>> sgd = torch.optim.SGD([torch.zeros(1, requires_grad=True)], lr=1.0)
        >>> decay = linear_decay(sgd, n_steps=4)
        >>> rates = []
        >>> for _ in range(4):
        ...     rates.append(sgd.param_groups[0]["lr"])
        ...     sgd.step()
        ...     decay.step()
        >>> rates
        [1.0, 0.75, 0.5, 0.25]
    """
    return LambdaLR(optimizer, lambda step: max(0.0, 1 - step / n_steps))
