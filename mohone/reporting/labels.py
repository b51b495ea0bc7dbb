"""What models and network embeddings are called in tables, and their order: the paper's, then all others."""

from __future__ import annotations

from collections.abc import Iterable

MODELS = {
    "transe": "TransE",
    "transh": "TransH",
    "transr": "TransR",
    "transd": "TransD",
    "rescal": "RESCAL",
    "distmult": "DistMult",
    "complex": "ComplEx",
    "analogy": "Analogy",
}
PYKEEN = {f"pykeen_{name}": f"{MODELS[name]} (PyKEEN)" for name in ("transh", "transr", "transd")}
NETEMBS = {"shnb": "SHNB", "struct": "Struct", "node2vec": "Node2vec", "deepwalk": "DeepWalk"}
_LABELS = {**MODELS, **PYKEEN, **NETEMBS}


def label(name: str) -> str:
    """The readable name of a model or network embedding; one from elsewhere keeps its own.

    >>> label("complex"), label("my_model")
    ('ComplEx', 'my_model')
    """
    return _LABELS.get(name, name)


def place(name: str) -> tuple[int, str]:
    """Where a name stands among others of its kind, as a key to sort by.

    >>> sorted(["rotate", "struct", "shnb", "complex", "transe"], key=place)
    ['transe', 'complex', 'shnb', 'struct', 'rotate']
    """
    known = list(_LABELS)
    return known.index(name) if name in _LABELS else len(known), name


def with_papers_models(models: Iterable[str]) -> list[str]:
    """All models of the paper, then those of the given ones that it has not, in their order.

    >>> with_papers_models(["rotate", "transe"])[-2:]
    ['analogy', 'rotate']
    """
    return [*MODELS, *(model for model in models if model not in MODELS)]
