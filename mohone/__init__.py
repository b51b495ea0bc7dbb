"""Knowledge-graph embeddings that know the network they live in."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from mohone.core.compiling import find_cache

if TYPE_CHECKING:
    from mohone.api.choices import (
        RESCAL,
        SHNB,
        Analogy,
        ComplEx,
        DeepWalk,
        DistMult,
        Evidence,
        Node2Vec,
        Query,
        Retrofit,
        Struct,
        TransD,
        TransE,
        TransH,
        TransR,
    )
    from mohone.api.data import load
    from mohone.api.work import embed_network, fit, infuse, open_job

__version__ = "0.1.0"
__all__ = [
    "RESCAL",
    "SHNB",
    "Analogy",
    "ComplEx",
    "DeepWalk",
    "DistMult",
    "Evidence",
    "Node2Vec",
    "Query",
    "Retrofit",
    "Struct",
    "TransD",
    "TransE",
    "TransH",
    "TransR",
    "embed_network",
    "fit",
    "infuse",
    "load",
    "open_job",
]
_PLACES = {"load": "data", **dict.fromkeys(("embed_network", "fit", "infuse", "open_job"), "work")}

find_cache()


def __getattr__(name: str) -> Any:
    """Import what Python users call when it is first asked for: torch and Lightning take seconds."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module = importlib.import_module(f"mohone.api.{_PLACES.get(name, 'choices')}")
    return getattr(module, name)


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
