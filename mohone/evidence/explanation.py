"""Why an answer has its score: what each value adds to it."""

from __future__ import annotations

from typing import NamedTuple

from mohone.evidence.reasons import Reason

MODEL = "model"  # What a model's own score is called among the values.


class Share(NamedTuple):
    """What one value adds to a score: `weight * value`.

    Attributes:
        expert: the name of who gives it; `MODEL` of the model itself.
        name: of the value, of which an expert may have several.
        value, weight: whose product it is.
    """

    expert: str
    name: str
    value: float
    weight: float

    @property
    def contribution(self) -> float:
        """The product."""
        return self.value * self.weight


class Explanation(NamedTuple):
    """Why an answer has its score: the shares sum to it.

    Attributes:
        score: of the answer.
        shares: of the model (first) and of each expert's values.
        reasons: of each expert, by its name, the strongest first.
    """

    score: float
    shares: tuple[Share, ...]
    reasons: dict[str, list[Reason]]
