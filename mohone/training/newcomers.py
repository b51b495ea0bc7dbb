"""Entities that came after the training: vectors for them, learned while all else stays as it is."""

from __future__ import annotations

import copy
import dataclasses
import hashlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from mohone.core.errors import DataError, require_choice, require_float, require_int
from mohone.data import KnowledgeGraph
from mohone.data.named_triples import encode_known
from mohone.data.ordering import fingerprint
from mohone.data.reading import NamedTriple
from mohone.data.vocabulary import Vocabulary
from mohone.evidence.model import EvidenceModel
from mohone.kge import KGEModel
from mohone.training.objective import Objective, Share

STARTS = ("neighbors", "random")
_BATCH_SIZE = 512  # Examples of a step, most at once.


@dataclass(frozen=True)
class Newcomers:
    """How vectors of new entities are found.

    Attributes:
        epochs: over all triples of new entities, in steps of Adam on the objective of the model's training;
            0: they stay where they start.
        lr: its first learning rate, which falls to 0, as a share of the numbers' standard deviation in the
            table.
        start: the mean vector of the known entities that the triples link them to (`neighbors`; of all
            where there are none), or numbers with mean and deviation of the table's (`random`).
        seed: of what is drawn.
    """

    epochs: int = 200
    lr: float = 0.1
    start: str = "neighbors"
    seed: int = 0

    def __post_init__(self) -> None:
        require_int("epochs", self.epochs, 0)
        require_float("lr", self.lr, strict=True)
        require_choice("start", self.start, STARTS)


def add_entities(
    model: KGEModel,
    kg: KnowledgeGraph,
    triples: Sequence[NamedTriple],
    objective: Objective,
    how: Newcomers | None = None,
) -> tuple[KGEModel, KnowledgeGraph]:
    """A model and a data set that have further entities; those given stay as they are.

    Args:
        model: trained.
        kg: its data set.
        triples: of new entities and known ones, by known relations; they are training triples from now on.
        objective: of the model's training.
        how: the vectors are found; None: as usual.

    Returns:
        the model, in which known entities and all relations are unchanged, and the data set, which came from
        memory. Entities are again in the sorted order of their names, so that ids of known ones may be
        others. Where triples have weights, each new one has their mean.

    Raises:
        DataError: a relation that the data set has not, no new entity, or a model that weighs evidence.
    """
    how = how or Newcomers()
    if any(isinstance(part, EvidenceModel) for part in model.modules()):
        raise DataError(
            "Entities must be added to a model of vectors alone, but this one weighs evidence of training "
            "triples: take its baseline."
        )
    if not len(triples):
        raise DataError("There must be new triples, but there are none.")
    larger, old_rows = _with_names(kg, triples)
    own = torch.unique(encode_known("the new triples", triples, larger), dim=0)
    is_new = torch.ones(larger.n_entities, dtype=torch.bool)
    is_new[old_rows] = False
    if not is_new.any():
        raise DataError("The new triples must name a new entity, but name known ones only.")
    larger = _with_triples(larger, own)
    model = copy.deepcopy(model)
    new_rows = is_new.nonzero().flatten()
    links = own[is_new[own[:, 0]] != is_new[own[:, 2]]]
    generator = torch.Generator().manual_seed(how.seed)
    tables = []
    for part in model.modules():
        if isinstance(part, KGEModel):
            part.n_entities = larger.n_entities
            own_tables = dict(part.named_parameters(recurse=False))
            for name in (each for each in part.entity_tables if each in own_tables):
                table = _enlarged(part.get_parameter(name), old_rows, new_rows, links, how, generator)
                part.register_parameter(name, table)
                tables.append(table)
    learned = dataclasses.replace(larger, train=own[is_new[own[:, [0, 2]]].any(1)], weights=None)
    _learn(model, tables, new_rows, learned, objective, how)
    return model, larger


def _with_names(kg: KnowledgeGraph, triples: Sequence[NamedTriple]) -> tuple[KnowledgeGraph, Tensor]:
    """The data set with further names, and the new id of each entity that it had: `(n_entities,)`."""
    names = {name for head, _, tail in triples for name in (head, tail)}
    entities = Vocabulary([*kg.entities.names, *names])
    rows = torch.tensor([entities.ids[name] for name in kg.entities.names])
    digest = hashlib.sha256(f"{kg.fingerprint}:{fingerprint(triples)}".encode()).hexdigest()

    def renumbered(part: Tensor) -> Tensor:
        return torch.stack([rows[part[:, 0]], part[:, 1], rows[part[:, 2]]], 1)

    train, valid, test = renumbered(kg.train), renumbered(kg.valid), renumbered(kg.test)
    larger = dataclasses.replace(
        kg,
        entities=entities,
        fingerprint=digest,
        fingerprints={},
        origin=(),
        train=train,
        valid=valid,
        test=test,
    )
    return larger, rows


def _with_triples(kg: KnowledgeGraph, triples: Tensor) -> KnowledgeGraph:
    """The data set with further training triples `(n, 3)`."""
    train, place = torch.unique(torch.cat([kg.train, triples]), dim=0, return_inverse=True)
    weights = kg.weights
    if weights is not None:
        known, weights = weights, weights.mean().expand(len(train)).clone()
        weights[place[: len(known)]] = known
    return dataclasses.replace(kg, train=train, weights=weights)


def _enlarged(
    table: nn.Parameter, old: Tensor, new: Tensor, links: Tensor, how: Newcomers, generator: torch.Generator
) -> nn.Parameter:
    """The table with rows for new entities, where they start.

    Args:
        table: `(len(old), ...)`.
        old, new: which rows of the larger table are known and new entities'.
        links: `(n, 3)` triples of a known and a new entity.
        how: they start.
        generator: of random numbers.
    """
    known = table.detach().cpu()
    out = known.new_zeros(len(old) + len(new), *known.shape[1:])
    out[old] = known
    if how.start == "random":
        drawn = torch.randn(len(new), *known.shape[1:], generator=generator)
        out[new] = known.mean() + known.std() * drawn.to(known.dtype)
    else:
        is_new = torch.zeros(len(out), dtype=torch.bool)
        is_new[new] = True
        by_head = is_new[links[:, 0]]
        mine = torch.where(by_head, links[:, 0], links[:, 2])
        other = torch.where(by_head, links[:, 2], links[:, 0])
        sums = torch.zeros_like(out).index_add(0, mine, out[other])[new]
        counts = torch.bincount(mine, minlength=len(out))[new].view(-1, *[1] * (known.dim() - 1))
        out[new] = torch.where(counts > 0, sums / counts.clamp(min=1), known.mean(0))
    return nn.Parameter(out.to(table.device), requires_grad=table.requires_grad)


def _learn(
    model: KGEModel,
    tables: Sequence[nn.Parameter],
    rows: Tensor,
    kg: KnowledgeGraph,
    objective: Objective,
    how: Newcomers,
) -> None:
    """Epochs on the objective over all triples of `kg.train`, which move these rows alone."""
    examples = objective.examples(kg, model.relation_block)
    n_steps = how.epochs * examples.n_batches(_BATCH_SIZE)
    rows = rows.to(model.device)
    free = [table.detach()[rows] for table in tables]
    kept = [table.detach().clone() for table in tables]
    groups = [
        {"params": [part], "lr": how.lr * float(table.std())} for part, table in zip(free, kept, strict=True)
    ]
    optimizer = torch.optim.Adam(groups)
    schedule = torch.optim.lr_scheduler.LinearLR(optimizer, 1.0, 0.0, max(1, n_steps))
    generator = torch.Generator().manual_seed(how.seed)
    with _learning(model, tables), torch.random.fork_rng(devices=[]):
        torch.manual_seed(how.seed)  # Dropout draws from torch's own generator.
        for _ in range(how.epochs):
            for batch in examples.epoch(_BATCH_SIZE, generator, Share(model.device)):
                gradients = torch.autograd.grad(objective.loss(model, batch), tables, allow_unused=True)
                for part, gradient in zip(free, gradients, strict=True):
                    part.grad = None if gradient is None else gradient[rows]
                optimizer.step()
                schedule.step()
                _put(model, tables, rows, free)
    with torch.no_grad():  # A constraint may have moved known entities that were not trained under it.
        for table, before, part in zip(tables, kept, free, strict=True):
            before[rows] = part
            table.copy_(before)


@torch.no_grad()
def _put(model: KGEModel, tables: Sequence[nn.Parameter], rows: Tensor, free: Sequence[Tensor]) -> None:
    """Write the learned rows into the tables, and put the model's constraints on them."""
    for part, table in zip(free, tables, strict=True):
        table[rows] = part
    model.constrain()
    for part, table in zip(free, tables, strict=True):
        part.copy_(table[rows])


@contextmanager
def _learning(model: KGEModel, tables: Sequence[nn.Parameter]) -> Iterator[None]:
    """Let these tables alone have gradients in the block."""
    before = [(parameter, parameter.requires_grad) for parameter in model.parameters()]
    for parameter, _ in before:
        parameter.requires_grad_(any(parameter is table for table in tables))
    try:
        yield
    finally:
        for parameter, wanted in before:
            parameter.requires_grad_(wanted)
