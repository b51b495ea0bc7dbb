"""Configurations of many jobs: what all share, told once, and what each has of its own."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

from mohone.core.config import CHOICES, Plain

Pairs = list[tuple[str, str]]


def shared_and_own(configs: Sequence[Plain]) -> tuple[Pairs, list[Pairs]]:
    """Keys and values that all configurations have, then of each what not all have.

    >>> shared_and_own([{"dim": 4, "kge": {"lr": 1}}, {"dim": 4, "kge": {"lr": 2}}])
    ([('dim', '4')], [[('kge.lr', '1')], [('kge.lr', '2')]])
    """
    flat = [dict(leaves(config)) for config in configs]
    shared = set.intersection(*({*each.items()} for each in flat)) if flat else set()
    first = [pair for pair in (flat[0].items() if flat else ()) if pair in shared]
    return first, [[pair for pair in each.items() if pair not in shared] for each in flat]


def leaves(node: Plain, prefix: str = "") -> Iterator[tuple[str, str]]:
    """Keys with dots between their parts, and their values as written, but for the names of choices."""
    for key, value in node.items():
        if isinstance(value, dict) and value and f"{prefix}{key}" != CHOICES:
            yield from leaves(value, f"{prefix}{key}.")
        elif f"{prefix}{key}" != CHOICES:
            yield f"{prefix}{key}", written(value)


def written(value: Any) -> str:
    """A value as a reader knows it from YAML."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
