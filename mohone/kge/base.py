"""The contract of a knowledge-graph embedding model: queries and candidates, met in matrix products."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from typing import ClassVar, NamedTuple

import torch
from torch import Tensor, nn

from mohone.core.errors import ConfigError, require_bool, require_int
from mohone.core.exchange import RowExchange
from mohone.kge.tables import lookup

BlockScores = Callable[[Tensor], Tensor]  # Of candidates `(k,)`, in any order: `(batch, k)`.


class Query(NamedTuple):
    """A batch of queries, each a triple with one end unknown.

    Attributes:
        entity: `(batch,)` ids of the known ends.
        relation: `(batch,)` rows of the tables of relations: ids, or those of inverses.
        vectors: `(batch, width)` what the model makes of both, to be matched with candidates.
    """

    entity: Tensor
    relation: Tensor
    vectors: Tensor


class KGEModel(nn.Module, ABC):
    """Scores of triples; higher is better. Training, loss and optimiser are no part of it.

    A model turns the known side of queries into vectors (`tail_query`, `head_query`) and matches them with a
    table of candidates (`score_candidates`), by matrix products and without a temporary of
    `(batch, n_candidates, dim)`. All-candidates scores follow from these; `score_triples` is written out on
    its own, the plain formula of the paper.

    Args:
        n_relations: of the data, inverses not counted.
        dim: numbers per entity, or what the model makes of it.
        reciprocal: has each relation a second row in the tables of relations, of its inverse, so that heads
            are predicted as the inverse's tails [Lacroix et al., ICML 2018]? Tails and heads then have two
            functions; `score_triples` is the tails' one.

    Attributes:
        n_relation_rows: rows of the tables of relations: `n_relations`, or twice as many with inverses; row
            `r + n_relations` is the inverse of `r`.
        entity_tables: names of the parameters with a row per entity (the paper's Q: what infusion moves).
        relation_tables: names of the parameters of relations (the paper's W: what is re-trained).
        relation_block: so many examples of one relation a batch should keep together for the model to be
            quick; more than 1 where each relation of a batch costs a product of its own.
        block_queries: so many queries at most `block_scores` should have at a time; None: any number.
        warming_up: is the model for now the simpler one that it grows from? Few models have one.
    """

    entity_tables: ClassVar[tuple[str, ...]] = ("entity",)
    relation_tables: ClassVar[tuple[str, ...]] = ("relation",)
    relation_block: int = 1
    block_queries: int | None = None

    def __init__(self, n_entities: int, n_relations: int, dim: int, reciprocal: bool = False) -> None:
        super().__init__()
        self.n_entities = require_int("n_entities", n_entities, 1)
        self.n_relations = require_int("n_relations", n_relations, 1)
        self.dim = require_int("kge_model.dim", dim, 1)
        self.reciprocal = require_bool("kge_model.reciprocal", reciprocal)
        self.n_relation_rows = (2 if reciprocal else 1) * n_relations
        self.warming_up = False
        self._sparse = False
        self._exchange: RowExchange | None = None

    @abstractmethod
    def tail_query(self, head: Tensor, relation: Tensor) -> Query:
        """Queries `(h, r, ?)` of ids `(batch,)`, in which a relation may be an inverse one."""

    def head_query(self, relation: Tensor, tail: Tensor) -> Query:
        """Queries `(?, r, t)` of ids `(batch,)`; if reciprocal they are `(t, r^-1, ?)`."""
        if self.reciprocal:
            return self.tail_query(tail, relation + self.n_relations)
        return self.plain_head_query(relation, tail)

    @abstractmethod
    def plain_head_query(self, relation: Tensor, tail: Tensor) -> Query:
        """`head_query` where relations have no inverse: the score of the triple, seen from its tail."""

    @abstractmethod
    def score_candidates(self, query: Query, candidates: Tensor | None = None) -> Tensor:
        """Scores of candidates for queries.

        Args:
            query: of this model.
            candidates: `(n_candidates,)` entity ids; None: all.

        Returns:
            `(batch, n_candidates)`.
        """

    def block_scores(self, query: Query) -> BlockScores:
        """What scores one block of candidates after the other for queries; a model may prepare that here."""
        return partial(self.score_candidates, query)

    @property
    def adds_to(self) -> KGEModel | None:
        """The model of whose scores of the same queries `block_scores_upon` makes this one's; None: none."""
        return None

    def block_scores_upon(self, query: Query, scores: BlockScores) -> BlockScores:  # noqa: ARG002
        """`block_scores`, made of those of the model that it `adds_to`, which it leaves as they are."""
        return self.block_scores(query)

    @abstractmethod
    def score_pairs(self, query: Query, candidates: Tensor) -> Tensor:
        """The score of one candidate for each query: `(batch,)` for entity ids `(batch,)`."""

    @abstractmethod
    def score_triples(self, head: Tensor, relation: Tensor, tail: Tensor) -> Tensor:
        """The score of each triple, by the plain formula: `(batch,)` for ids `(batch,)` of each part."""

    def score_relations(self, head: Tensor, tail: Tensor) -> Tensor:
        """Scores of all rows of the tables of relations between heads and tails, as rows of tails' queries.

        Models that can form them all in a product do; this asks of one row after the other.

        Returns:
            `(batch, n_relation_rows)` for ids `(batch,)`.
        """
        rows = torch.arange(self.n_relation_rows, device=head.device)
        each = [self.score_pairs(self.tail_query(head, row.expand_as(head)), tail) for row in rows]
        return torch.stack(each, 1)

    def entity_squares(self, entities: Tensor) -> Tensor:
        """Squared moduli of the components of entity vectors, for regularisers: `(batch, n_components)`."""
        return self.lookup(self.get_parameter("entity"), entities).square()

    def relation_squares(self, relations: Tensor | None = None) -> Tensor:
        """Squared moduli of the components of relation vectors, None: all: `(batch, n_components)`."""
        return self.lookup(self.get_parameter("relation"), relations).square()

    def score_tails(self, head: Tensor, relation: Tensor, candidates: Tensor | None = None) -> Tensor:
        """Scores of candidate tails: `(batch, n_candidates)`; None: all entities."""
        return self.score_candidates(self.tail_query(head, relation), candidates)

    def score_heads(self, relation: Tensor, tail: Tensor, candidates: Tensor | None = None) -> Tensor:
        """Scores of candidate heads: `(batch, n_candidates)`; None: all entities."""
        return self.score_candidates(self.head_query(relation, tail), candidates)

    def warm_up(self, on: bool) -> None:
        """Let the model be the simpler one that it grows from, or end that."""
        self.warming_up = on

    def constrain(self) -> None:
        """Put the constraints of the model on its tables; called after each step."""

    def lookup(self, table: Tensor, ids: Tensor | None) -> Tensor:
        """The rows `ids` of one of the model's tables: see `lookup`. Models look up by this method.

        Raises:
            ConfigError: all rows of a table that lies in several processes.
        """
        if self._exchange is None or not any(table is mine for mine in self.entity_parameters().values()):
            return lookup(table, ids, self._sparse)
        if ids is None:
            raise ConfigError(
                "`training.shard_rows` must be false where all entities are scored, but is true."
            )
        return self._exchange.lookup(table, ids)

    def shard(self, exchange: RowExchange) -> None:
        """Keep only those rows of the tables of entities that this process holds; ask others for theirs."""
        for name, table in self.entity_parameters().items():
            self._put(name, nn.Parameter(exchange.own(table.data), table.requires_grad))
        self._set_exchange(exchange)

    def unshard(self, tables: Mapping[str, Tensor]) -> None:
        """Take whole tables of entities, by name, in place of the rows that this process held."""
        for name, table in tables.items():
            self._put(name, nn.Parameter(table, self.get_parameter(name).requires_grad))
        self._set_exchange(None)

    @property
    def exchange(self) -> RowExchange | None:
        """By what rows of entities are had that other processes hold; None: the tables are whole."""
        return self._exchange

    def _put(self, name: str, table: nn.Parameter) -> None:
        path, _, own = name.rpartition(".")
        self.get_submodule(path).register_parameter(own, table)

    def _set_exchange(self, exchange: RowExchange | None) -> None:
        for part in self.modules():
            if isinstance(part, KGEModel):
                part._exchange = exchange

    @contextmanager
    def sparse_gradients(self, on: bool = True) -> Iterator[None]:
        """Let rows looked up in the block have sparse gradients, where they are few of a large table's.

        Else each lookup makes one as large as the table. Most optimisers want their sum, of tables that are
        not large: `make_gradients_dense`.
        """
        self._set_sparse(on)
        try:
            yield
        finally:
            self._set_sparse(False)

    def _set_sparse(self, on: bool) -> None:
        for part in self.modules():
            if isinstance(part, KGEModel):
                part._sparse = on

    def entity_parameters(self) -> dict[str, nn.Parameter]:
        """The per-entity tables by name, each `(n_entities, ...)`."""
        return {name: self.get_parameter(name) for name in self.entity_tables}

    @property
    def entity_table(self) -> nn.Parameter:
        """The first of these: the entities' vectors, not what projects them."""
        return next(iter(self.entity_parameters().values()))

    @property
    def entity_vectors(self) -> Tensor:
        """A row of numbers for each entity, without gradient: `(n_entities, width)`."""
        return self.entity_table.detach().flatten(1)

    def relation_parameters(self) -> dict[str, nn.Parameter]:
        """The relations' tables by name."""
        return {name: self.get_parameter(name) for name in self.relation_tables}

    @property
    def device(self) -> torch.device:
        """Where the tables are."""
        return next(self.parameters()).device

    @property
    def numbers_per_entity(self) -> int:
        """How many numbers the model keeps for each entity."""
        return sum(table[0].numel() for table in self.entity_parameters().values())


def normal_table(n: int, width: int, std: float) -> nn.Parameter:
    """An `(n, width)` table of normal numbers, drawn from torch's global generator."""
    return nn.Parameter(torch.randn(n, width).mul_(std))  # In place: tables may fill half of the memory.
