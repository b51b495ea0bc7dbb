"""How a model is trained, as values: what is minimised, by which optimiser, on which schedule, how long."""

from __future__ import annotations

import dataclasses
import inspect
import logging
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import torch
from torch import Tensor
from torch.optim import Optimizer

from mohone.core.errors import ConfigError, require_bool, require_float, require_int, require_kind
from mohone.kge.tables import is_large
from mohone.training.objective import Objective
from mohone.training.schedules import linear_decay

log = logging.getLogger(__name__)
VALID_MRR, TRAIN_LOSS = "valid/mrr", "train/loss"  # Of curves.
MakeScheduler = Callable[..., Any]
_BY_ROW = (torch.optim.Adagrad, torch.optim.SGD)


@dataclass(frozen=True)
class Fit:
    """How long a model is trained, in which steps.

    Attributes:
        batch_size: examples of a step: triples, or queries in `one_vs_all` and `k_vs_all`.
        max_epochs: at most so many.
        validate_every: epochs between validations.
        patience: validations without a new best after which training stops.
        warmup_epochs: first epochs in which the model warms up as a simpler one: TransR as TransE.
        shard_rows: does each of several processes hold only its share of the rows of entity tables?
    """

    batch_size: int = 512
    max_epochs: int = 60
    validate_every: int = 5
    patience: int = 3
    warmup_epochs: int = 0
    shard_rows: bool = False

    def __post_init__(self) -> None:
        for name in ("batch_size", "max_epochs", "patience", "validate_every"):
            require_int(f"training.{name}", getattr(self, name), 1)
        require_int("training.warmup_epochs", self.warmup_epochs, 0)
        require_bool("training.shard_rows", self.shard_rows)


def _adam() -> partial[Optimizer]:
    make: Callable[..., Optimizer] = torch.optim.Adam
    return partial(make, lr=3e-3)


@dataclass(frozen=True)
class Training:
    """All that a training is made of, but for the model and the triples.

    Attributes:
        objective: what is minimised on which batches.
        optimizer: a partial call that makes one of the parameters; `lr` among its keywords.
        scheduler: makes a schedule of an optimiser, stepped after each batch; if it takes `n_steps`, it is
            told how many there will be. None: the learning rate stays.
        fit: how long, in which steps.

    Example:
        >>> from mohone.training import OneVsAll
        >>> training = Training(OneVsAll(n3=0.1), fit=Fit(max_epochs=9))
        >>> training.lr, training.is_constant, training.fit.batch_size
        (0.003, False, 512)
    """

    objective: Objective
    optimizer: partial[Optimizer] = field(default_factory=_adam)
    scheduler: MakeScheduler | None = linear_decay
    fit: Fit = field(default_factory=Fit)

    def __post_init__(self) -> None:
        require_kind("training.objective", self.objective, Objective)
        require_kind("training.fit", self.fit, Fit)
        if self.scheduler is not None and not callable(self.scheduler):
            raise ConfigError(
                f"`training.scheduler` must be null or a `_partial_` call, not {self.scheduler!r}."
            )
        if not isinstance(self.optimizer, partial) or "lr" not in self.optimizer.keywords:
            raise ConfigError("`training.optimizer` must be a `_partial_` optimiser with an `lr`.")
        require_float("training.lr", self.lr, strict=True)

    @property
    def lr(self) -> float:
        """The first learning rate."""
        rate: float = self.optimizer.keywords["lr"]
        return rate

    @property
    def is_constant(self) -> bool:
        """Does the learning rate stay, so that the first epochs are the same however long it is trained?"""
        return self.scheduler is None

    @property
    def by_row(self) -> bool:
        """Does a step of the optimiser touch only the rows of a table that have a gradient?

        torch's Adagrad and SGD do, whose zero gradients move nothing: what they make of a table is the same.
        """
        kind, keywords = self.optimizer.func, self.optimizer.keywords
        plain = not any(keywords.get(key) for key in ("weight_decay", "momentum"))
        return plain and isinstance(kind, type) and issubclass(kind, _BY_ROW)

    def new_optimizer(self, parameters: Iterable[Tensor], on_cpu: bool) -> Optimizer:
        """The optimiser of these parameters.

        On a CPU the fused one, where there is one and no table is so large that only rows should be touched.
        """
        tables = list(parameters)
        takes = inspect.signature(self.optimizer.func).parameters
        large = max((table.numel() for table in tables if is_large(table)), default=0)
        if large and not self.by_row:
            log.warning(
                "Each step moves all %s numbers of a table: only torch.optim.Adagrad and SGD, without weight "
                "decay and momentum, keep to the rows of a batch (`training.optimizer`).",
                f"{large:,}",
            )
        fused = on_cpu and "fused" in takes and not (large and self.by_row)
        return self.optimizer(tables, **({"fused": True} if fused else {}))

    def new_scheduler(self, optimizer: Optimizer, n_steps: int) -> Any | None:
        """The schedule of `n_steps` steps; None if the learning rate stays."""
        if self.scheduler is None:
            return None
        make = self.scheduler.func if isinstance(self.scheduler, partial) else self.scheduler
        more = {"n_steps": n_steps} if "n_steps" in inspect.signature(make).parameters else {}
        return self.scheduler(optimizer, **more)

    def for_retraining(self, lr_factor: float, max_epochs: int, patience: int) -> Training:
        """The same objective, for what is left to learn after an infusion: small, constant steps, watched.

        Args:
            lr_factor: of the learning rate.
            max_epochs: at most so many, each validated.
            patience: validations without a new best after which it stops.
        """
        keywords = {**self.optimizer.keywords, "lr": self.lr * lr_factor}
        return dataclasses.replace(
            self,
            optimizer=partial(self.optimizer.func, *self.optimizer.args, **keywords),
            scheduler=None,
            fit=dataclasses.replace(
                self.fit,
                max_epochs=max_epochs,
                patience=patience,
                validate_every=1,
                warmup_epochs=0,
                shard_rows=False,
            ),
        )
