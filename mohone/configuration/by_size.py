"""Settings that follow the size of a data set: what `auto` stands for, once the data have been read.

The rules were found on validation with data sets of 104 to 40,943 entities (`docs/choices.md` says which,
and how near they come to a search); none knows the data that it is used on.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from mohone.configuration.recipes import family_of
from mohone.core.config import CHOICES, Plain
from mohone.core.errors import ConfigError
from mohone.core.words import counted

if TYPE_CHECKING:  # To show settings needs no torch.
    from mohone.data import KnowledgeGraph

AUTO = "auto"
OBJECTIVE = "one_vs_all"  # What the rules are for.
_GROUPS = ("kge_model", "training")


@dataclass(frozen=True)
class Size:
    """How large a data set is.

    Attributes:
        n_entities: of all splits.
        n_relations: of all splits.
        n_train: training triples.
    """

    n_entities: int
    n_relations: int
    n_train: int

    @classmethod
    def of(cls, kg: KnowledgeGraph) -> Size:
        """The size of a data set."""
        return cls(kg.n_entities, kg.n_relations, len(kg.train))

    @property
    def density(self) -> float:
        """Training triples for each entity."""
        return self.n_train / max(1, self.n_entities)

    def __str__(self) -> str:
        entities = counted(self.n_entities, "entity", "entities")
        return (
            f"{entities}, {counted(self.n_relations, 'relation')}, {counted(self.n_train, 'training triple')}"
        )


USUAL = Size(10_000, 100, 100_000)  # To check a configuration before its data are read.
Rule = Callable[[Size], Any]


def _between(low: float, value: float, high: float) -> float:
    return max(low, min(value, high))


def _two_digits(value: float) -> float:
    return float(f"{value:.2g}")


def _n_candidates(size: Size) -> int | None:
    """All entities, until scores of all of them cost more than they teach."""
    return None if size.n_entities <= 20_000 else 4096


def _batch_size(size: Size) -> int:
    """A power of two, for 100 steps an epoch or more."""
    return int(2 ** round(math.log2(_between(128, size.n_train / 100, 512))))


def _max_epochs(size: Size) -> int:
    """30 up to 90,000 triples; more triples are seen as often in all, 10 times at least."""
    return round(_between(10, 30 * 90_000 / max(1, size.n_train), 30))


def _max_epochs_of_distances(size: Size) -> int:
    """Distances learn half as quickly."""
    return 2 * _max_epochs(size)


def _sixth(max_epochs: Rule) -> Rule:
    return lambda size: max_epochs(size) // 6


def _batch_size_of_products(size: Size) -> int:
    """Where entities have few triples, not the smallest."""
    return max(256, _batch_size(size)) if _is_thin(size) else _batch_size(size)


def _penalty(size: Size) -> float:
    """More entities want shorter vectors: 0.007 for a hundred, 0.045 for 15,000."""
    return _two_digits(min(0.007 + size.n_entities / 400_000, 0.1))


def _penalty_of_products(size: Size) -> float:
    """Where entities have few triples, as much as where there are many entities."""
    return 0.1 if _is_thin(size) else _penalty(size)


def _adagrad_lr(size: Size) -> float:
    return 0.3 if size.n_train >= 50_000 or _is_dense(size) else 0.1


def _adam_lr(size: Size) -> float:
    return 5e-3 if _is_sparse(size) else 2e-3


def _dropout_of_products(size: Size) -> float:
    """Few entities with many triples each are learned by heart without it, and so are many with few each."""
    if _is_dense(size):
        return 0.25
    return 0.1 if _is_thin(size) else 0.0


def _dropout_of_distances(size: Size) -> float:
    """The fewer triples an entity has, the less of them should be learned by heart."""
    return 0.4 if _is_sparse(size) else 0.1


def _is_sparse(size: Size) -> bool:
    return size.density < 5


def _is_thin(size: Size) -> bool:
    return size.density < 10


def _is_dense(size: Size) -> bool:
    return size.density >= 30


_COMMON: dict[str, Rule] = {
    "training.objective.n_candidates": _n_candidates,
    "training.fit.batch_size": _batch_size,
    "training.fit.max_epochs": _max_epochs,
    "training.fit.validate_every": _sixth(_max_epochs),
}
_LR, _N3, _DURA, _DROPOUT = (
    f"training.{key}" for key in ("optimizer.lr", "objective.n3", "objective.dura", "objective.dropout")
)
RULES: dict[str, dict[str, Rule]] = {
    "bilinear": {
        **_COMMON,
        "training.fit.batch_size": _batch_size_of_products,
        _LR: _adagrad_lr,
        _N3: _penalty_of_products,
        _DROPOUT: _dropout_of_products,
    },
    "rescal": {**_COMMON, _LR: lambda _: 0.1, _DURA: _penalty},
    "translational": {
        **_COMMON,
        "training.fit.max_epochs": _max_epochs_of_distances,
        "training.fit.validate_every": _sixth(_max_epochs_of_distances),
        _LR: _adam_lr,
        _DROPOUT: _dropout_of_distances,
    },
}


def settle(config: Plain, size: Size) -> tuple[Plain, Plain]:
    """Put in the place of each `auto` what its rule says for a size.

    Args:
        config: plain and resolved.
        size: of the data set.

    Returns:
        the configuration without `auto`, and what was chosen, by full key; empty if nothing was `auto`.

    Raises:
        ConfigError: an `auto` that has no rule.

    Example:
        >>> chosen = {"training": "one_vs_all", "kge_model": "complex"}
        >>> config = {"choices": chosen, "training": {"fit": {"batch_size": "auto", "patience": 3}}}
        >>> settled, chosen = settle(config, Size(135, 46, 5216))
        >>> settled["training"], chosen
        ({'fit': {'batch_size': 128, 'patience': 3}}, {'training.fit.batch_size': 128})
    """
    keys = [key for group in _GROUPS for key in _auto_keys(config.get(group), group)]
    if not keys:
        return config, {}
    settled, rules = copy.deepcopy(config), _rules(config)
    chosen = {}
    for key in keys:
        if key not in rules:
            raise ConfigError(_no_rule(key, config, rules))
        *path, name = key.split(".")
        node = settled
        for part in path:
            node = node[part]
        chosen[key] = node[name] = rules[key](size)
    return settled, chosen


def has_auto(config: Plain) -> bool:
    """Is there a value that waits for the data?"""
    return any(True for group in _GROUPS for _ in _auto_keys(config.get(group), group))


def in_words(chosen: Plain, size: Size) -> str:
    """What was chosen for which size.

    Example:
        >>> print(in_words({"training.optimizer.lr": 0.1}, Size(4, 1, 3)))
        by the size of the data (4 entities, 1 relation, 3 training triples), not tuned to them: lr 0.1
    """
    values = ", ".join(f"{key.rpartition('.')[2]} {_shown(value)}" for key, value in chosen.items())
    return f"by the size of the data ({size}), not tuned to them: {values}"


def _shown(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else "none" if value is None else str(value)


def _auto_keys(node: Any, path: str) -> Iterator[str]:
    """The full keys below a node whose value is `auto`."""
    if isinstance(node, Mapping):
        for key, value in node.items():
            yield from _auto_keys(value, f"{path}.{key}")
    elif node == AUTO:
        yield path


def _rules(config: Plain) -> dict[str, Rule]:
    """Those for the model and the objective; none: nothing may be `auto`."""
    choices = config.get(CHOICES, {})
    if choices.get("training") != OBJECTIVE:
        return {}
    return RULES.get(family_of(str(choices.get("kge_model"))), {})


def _no_rule(key: str, config: Plain, rules: Mapping[str, Rule]) -> str:
    if rules:
        names = ", ".join(rules)
        return f"`{key}` must be given, for `auto` is known for {names} alone, but is auto."
    choices = config.get(CHOICES, {})
    return (
        f"`{key}` must be given, for `auto` is known for training={OBJECTIVE} and models of the package, "
        f"but is auto with training={choices.get('training')} and kge_model={choices.get('kge_model')}."
    )
