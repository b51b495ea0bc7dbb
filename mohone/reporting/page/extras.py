"""What a page shows of a job beyond its result, where the job can be opened: gathered by those who can."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

Steps = Sequence[Mapping[str, float | None]]  # Figures by name, `epoch` among them.


class Change(NamedTuple):
    """A query whose answer has another rank after the infusion.

    Attributes:
        head, relation, tail: of the test triple, by name.
        side: what was asked for, `head` or `tail`.
        before, after: filtered ranks.
        reasons: what spoke for the answer, the strongest first.
        rival: of a loss, who ranks first now; empty: nobody is told.
        rival_reasons: what spoke for that.
    """

    head: str
    relation: str
    tail: str
    side: str
    before: float
    after: float
    reasons: Sequence[str] = ()
    rival: str = ""
    rival_reasons: Sequence[str] = ()


@dataclass(frozen=True)
class Extras:
    """Of one job.

    Attributes:
        command: what makes it again; empty: not known.
        about_command: a sentence on it, if one is needed.
        curves: what stages noted step by step, by name.
        wins, losses: the greatest first.
        left_out: why there are no wins and losses; empty: there are.
    """

    command: str = ""
    about_command: str = ""
    curves: Mapping[str, Steps] = field(default_factory=dict)
    wins: Sequence[Change] = ()
    losses: Sequence[Change] = ()
    left_out: str = ""
