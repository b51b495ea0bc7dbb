"""Where the gain of a result in MRR lies: by relation, by part of the queries, by point of the grid."""

from __future__ import annotations

from typing import NamedTuple

from mohone.core.config import Plain
from mohone.reporting.infusions import tried_points

Line = tuple[str, int]  # Which side moves, and how many neighbours draw it.


class RelationGain(NamedTuple):
    """A relation's MRR, filtered; `added` is its gain times its share of queries: they sum to the job's."""

    name: str
    n_queries: int
    before: float
    after: float
    gain: float
    added: float


class BinGain(NamedTuple):
    """A part of the queries: its MRR before, and its gain; both 0 where it has none."""

    name: str
    n_queries: int
    before: float
    gain: float


def gains_by_relation(result: Plain) -> list[RelationGain]:
    """Of a job that was infused; none of a result that knows no relations."""
    if not result["infused"] or "relations" not in result["baseline"]["filtered"]:
        return []
    before, after = (result[which]["filtered"]["relations"] for which in ("baseline", "infused"))
    total = sum(each["n_ranked"] for each in before.values())
    out = []
    for name, each in before.items():
        gain, n = after[name]["mrr"] - each["mrr"], each["n_ranked"]
        out.append(RelationGain(name, n, each["mrr"], after[name]["mrr"], gain, gain * n / total))
    return out


def gains_by_bin(result: Plain, kind: str, setting: str) -> list[BinGain]:
    """The same by a partition of the queries (`degrees`, `distances`, `categories`) in a setting."""
    if not result["infused"] or kind not in result["baseline"].get(setting, {}):
        return []
    before, after = (result[which][setting][kind] for which in ("baseline", "infused"))
    return [
        BinGain(name, each["n_ranked"], each["mrr"], after[name]["mrr"] - each["mrr"])
        if each
        else BinGain(name, 0, 0.0, 0.0)
        for name, each in before.items()
    ]


def gains_by_point(result: Plain) -> dict[Line, list[tuple[float, float]]]:
    """By beta the gain on validation, before re-training, a line for each side and number of neighbours.

    None where there was no such choice, or only of one that moves nothing.
    """
    baseline = (result["selection"] or {}).get("valid_mrr_baseline")
    out: dict[Line, list[tuple[float, float]]] = {}
    for point in tried_points(result) if baseline is not None else ():
        found = point["beta"], point["valid_mrr"] - baseline
        out.setdefault((point["side"], point["neighbors"]), []).append(found)
    return {line: sorted(points) for line, points in out.items()}
