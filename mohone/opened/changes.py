"""Which queries of a finished job an infusion changed most, by name, and what spoke for their answers."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np

from mohone.core.errors import DataError
from mohone.data.knowledge_graph import KnowledgeGraph
from mohone.data.queries import ASKED
from mohone.evaluation.best_answers import Wanted, best_answers
from mohone.opened.finished import FinishedJob, open_job
from mohone.reporting.infusions import n_neighbors
from mohone.reporting.page.extras import Change
from mohone.reporting.results import RANKS, read_ranks

_MOST_REASONS = 4
_MOST_NAMES = 3


class _Query(NamedTuple):
    """A query by ids: what is asked for, the known entity, the relation, the right answer."""

    side: str
    known: int
    relation: int
    answer: int


def changes_of(folder: Path, most: int) -> tuple[list[Change], list[Change]]:
    """The largest gains and losses in filtered reciprocal rank on test; the job is read, never trained.

    Args:
        folder: of the job.
        most: gains, and as many losses.

    Raises:
        DataError: the job cannot be opened, has no infusion, or kept no ranks.
    """
    job = open_job(folder, train=False)
    if not job.is_infused:
        raise DataError(f"{folder} must be a job with an infusion for wins and losses, but has none.")
    before, after = (read_ranks(folder, which, "filtered") for which in ("baseline", "infused"))
    if before is None or after is None or not len(before) == len(after) == 2 * len(job.kg.test):
        raise DataError(f"{folder} must have the ranks of its test queries ({RANKS}), but has not.")
    gain = 1 / after - 1 / before
    order = np.argsort(-gain, kind="stable")
    wins = [i for i in order[:most].tolist() if gain[i] > 0]
    losses = [i for i in order[::-1][:most].tolist() if gain[i] < 0]
    return (
        [_change(job, i, before[i], after[i], is_loss=False) for i in wins],
        [_change(job, i, before[i], after[i], is_loss=True) for i in losses],
    )


def _change(job: FinishedJob, i: int, before: float, after: float, is_loss: bool) -> Change:
    """Of a loss also what ranks first now, of what the data set does not have, and what spoke for that."""
    kg = job.kg
    head, relation, tail = kg.test[i % len(kg.test)].tolist()
    query = _Query("tail", head, relation, tail) if i < len(kg.test) else _Query("head", tail, relation, head)
    names = kg.entities.names
    change = Change(
        head=names[head],
        relation=kg.relations.names[relation],
        tail=names[tail],
        side=query.side,
        before=float(before),
        after=float(after),
        reasons=_reasons(job, query),
    )
    if not is_loss:
        return change
    asked = (head, relation, ASKED) if query.side == "tail" else (ASKED, relation, tail)
    first = best_answers(job.model, kg, asked, Wanted(top=1, own=True))
    if not first:
        return change
    reasons = _reasons(job, query._replace(answer=first[0].id))
    return change._replace(rival=first[0].name, rival_reasons=reasons)


def _reasons(job: FinishedJob, query: _Query) -> list[str]:
    """What the infusion says of an answer; where it cannot, what the known entity was drawn to."""
    said = job.why(query.side, (query.known, query.relation), query.answer)
    return said[:_MOST_REASONS] or _drawn_to(job, query)


def _drawn_to(job: FinishedJob, query: _Query) -> list[str]:
    """Of an infusion that moves vectors: those that the known entity was drawn to that have the answer."""
    k = n_neighbors(job.result)
    if not k:
        return []
    names = job.kg.entities.names
    metric = job.result["config"]["infusion"].get("metric", "cosine")
    neighbors = [i for i in job.space.nearest(k, metric).rows[query.known].tolist() if i >= 0]
    having = _that_have(job.kg, query)
    alike = [i for i in neighbors if i in having]
    of_all = f"of the {len(neighbors)} network neighbours of {names[query.known]}"
    if not alike:
        return [f"none {of_all} has this answer in train"]
    listed = ", ".join(names[i] for i in alike[:_MOST_NAMES]) + ", ..." * (len(alike) > _MOST_NAMES)
    return [f"{len(alike)} {of_all} {'have' if len(alike) > 1 else 'has'} this answer in train: {listed}"]


def _that_have(kg: KnowledgeGraph, query: _Query) -> set[int]:
    """The entities that have the answer to the same relation in train."""
    given, asked = (0, 2) if query.side == "tail" else (2, 0)
    same = (kg.train[:, 1] == query.relation) & (kg.train[:, asked] == query.answer)
    return set(kg.train[same, given].tolist())
