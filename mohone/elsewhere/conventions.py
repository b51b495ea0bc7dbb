"""How PyKEEN keeps and scores a model, and how we do: one class for each of its interactions that we have.

Tested against PyKEEN's own scores (`tests/elsewhere`).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import torch
from torch import Tensor

Settings = dict[str, Any]
Shapes = tuple[Sequence[tuple[int, ...]], Sequence[tuple[int, ...]]]  # Of entities' and relations' rows.


class Convention(ABC):
    """An interaction of PyKEEN's.

    Attributes:
        kge_model: ours, as configurations name it.
        entity: the tables of ours in the order of PyKEEN's `entity_representations`.
        relation: those in the order of its `relation_representations`.
    """

    kge_model: ClassVar[str]
    entity: ClassVar[tuple[str, ...]] = ("entity",)
    relation: ClassVar[tuple[str, ...]] = ("relation",)

    def settings(self, state: Mapping[str, Any], shapes: Shapes) -> Settings:  # noqa: ARG002
        """Keys of `kge_model`.

        Args:
            state: attributes of PyKEEN's interaction.
            shapes: of a row of each table.
        """
        return {"dim": shapes[0][0][0]}

    def ours(self, table: Tensor) -> Tensor:
        """A table of ours, `(n, width)`, of PyKEEN's: `(n, ...)`, complex numbers as pairs at the end."""
        return table.flatten(1)

    def theirs(self, table: Tensor, shape: Sequence[int]) -> Tensor:
        """The other way: `(n, *shape)`."""
        return table.reshape(len(table), *shape)


class Distance(Convention):
    """Minus a norm, or its power."""

    @abstractmethod
    def settings(self, state: Mapping[str, Any], shapes: Shapes) -> Settings:
        """`norm` and what becomes of it, too."""
        return {**super().settings(state, shapes), "norm": state.get("p")}


class TransE(Distance):
    """A power of 1 is the distance itself."""

    kge_model = "transe"

    def settings(self, state: Mapping[str, Any], shapes: Shapes) -> Settings:
        """`dim`, `norm` and `squared`."""
        usual = super().settings(state, shapes)
        return {**usual, "squared": bool(state.get("power_norm")) and usual["norm"] == 2}


class Projected(Distance):
    """PyKEEN's TransH, TransR and TransD are models of their own: see `mohone.kge.projected`."""

    def settings(self, state: Mapping[str, Any], shapes: Shapes) -> Settings:
        """`dim`, `norm` and `power`."""
        return {**super().settings(state, shapes), "power": bool(state.get("power_norm"))}


class TransH(Projected):
    """Of its tables of relations the first are the normals of its interaction, not the translations."""

    kge_model = "pykeen_transh"
    relation = ("normal", "relation")


class TransR(Projected):
    """Matrices are `(dim, relation_dim)`."""

    kge_model = "pykeen_transr"
    relation = ("relation", "projection")

    def settings(self, state: Mapping[str, Any], shapes: Shapes) -> Settings:
        """`relation_dim`, too."""
        return {**super().settings(state, shapes), "relation_dim": shapes[1][0][0]}


class TransD(TransR):
    """Entities have vectors and projection vectors."""

    kge_model = "pykeen_transd"
    entity = ("entity", "entity_projection")
    relation = ("relation", "relation_projection")


class DistMult(Convention):
    """The same in both."""

    kge_model = "distmult"


class ComplEx(Convention):
    """PyKEEN has pairs of a real and an imaginary part, we have all real parts first."""

    kge_model = "complex"

    def ours(self, table: Tensor) -> Tensor:
        """`(n, dim, 2)` to `(n, 2 dim)`."""
        return table.mT.flatten(1)

    def theirs(self, table: Tensor, shape: Sequence[int]) -> Tensor:
        """`(n, 2 dim)` to `(n, dim, 2)`."""
        return table.reshape(len(table), 2, shape[0]).mT


class RESCAL(Convention):
    """The same in both, row by row."""

    kge_model = "rescal"


CONVENTIONS: dict[str, Convention] = {
    "TransEInteraction": TransE(),
    "TransHInteraction": TransH(),
    "TransRInteraction": TransR(),
    "TransDInteraction": TransD(),
    "DistMultInteraction": DistMult(),
    "ComplExInteraction": ComplEx(),
    "RESCALInteraction": RESCAL(),
}


def beside(rows: Tensor) -> Tensor:
    """The rows of relations and inverses, which PyKEEN has in turns, in two blocks: relations first."""
    return torch.cat([rows[0::2], rows[1::2]])


def in_turns(rows: Tensor) -> Tensor:
    """The other way."""
    return torch.stack(rows.chunk(2), 1).flatten(0, 1)
