"""What each expert of an infusion is worth: all of them, each left out, each alone."""

from __future__ import annotations

import numpy as np

from mohone.core.errors import DataError
from mohone.reporting.cells import Cell, Entry, MarkedNumber, Table, is_better
from mohone.reporting.datasets import Results
from mohone.reporting.groups import ResultGroup, group_results
from mohone.reporting.infusions import Column, experts_of
from mohone.reporting.labels import label
from mohone.reporting.parts import beyond

_SETTING, _METRIC = "filtered", "mrr"
_JOINED = ", "
Experts = tuple[str, ...]


def ablation_tables(results: Results) -> list[Table]:
    """A table of filtered MRR for each model and network embedding, a row for each choice of experts.

    Raises:
        AmbiguousError: results of the same experts and seed of other settings.
        DataError: no result has experts.
    """
    told = [
        (path, {**result, "infusion": _JOINED.join(experts)})
        for path, result in results
        if (experts := experts_of(result))
    ]
    if not told:
        raise DataError("There must be results of an infusion by experts below the folders, but are none.")
    return [
        _table(group, model, netemb)
        for group in group_results(told)
        for model in group.models
        for netemb in dict.fromkeys(column.netemb for column in group.columns)
        if any((model, column) in group.cells for column in group.columns if column.netemb == netemb)
    ]


def _table(group: ResultGroup, model: str, netemb: str) -> Table:
    """The baseline, then the most experts first; gain over the baseline, and over each part that is told."""
    columns = {
        tuple(column.infusion.split(_JOINED)): column
        for column in group.columns
        if column.netemb == netemb and (model, column) in group.cells
    }
    parts = list(dict.fromkeys(part for column in columns.values() for part in group.parts(column)))
    most = max(columns, key=len)
    order = sorted(columns, key=lambda experts: (-len(experts), _left_out(experts, most), experts))
    rows: list[tuple[Entry, ...]] = [
        ("none", group.baseline(model, _SETTING, _METRIC), None, *(None for _ in parts))
    ]
    for experts in order:
        cell = group.cell(model, columns[experts])
        further = [_beyond(group, model, columns, experts, part) for part in parts]
        gain = cell.gain(_SETTING, _METRIC)
        rows.append((named(experts, most), cell.shown(_SETTING, _METRIC), gain, *further))
    header = ("Experts", "MRR", "Gain", *(f"Beyond {part}" for part in parts))
    note = "The star beyond a part is against that part alone." if parts else ""
    return Table(
        f"{group.title}: {label(model)}, {label(netemb)}, {_SETTING}, by experts", header, rows, note
    )


def named(experts: Experts, most: Experts) -> str:
    """A choice of experts in the fewest words.

    >>> most = ("votes", "heat", "paths")
    >>> named(("heat", "paths"), most), named(("heat",), most), named(("heat", "linked"), most)
    ('without votes', 'heat alone', 'heat, linked')
    >>> named(most, most)
    'all: votes, heat, paths'
    """
    if len(experts) == 1:
        return f"{experts[0]} alone"
    if experts == most:
        return f"all: {_JOINED.join(experts)}"
    missing = [name for name in most if name not in experts]
    if len(missing) < len(experts) and {*experts} <= {*most}:
        return f"without {_JOINED.join(missing)}"
    return _JOINED.join(experts)


def _left_out(experts: Experts, most: Experts) -> list[int]:
    """Places of the experts that are left out, to sort by; of one alone its own."""
    return [i for i, name in enumerate(most) if (name in experts) == (len(experts) == 1)]


def _beyond(
    group: ResultGroup, model: str, columns: dict[Experts, Column], experts: Experts, part: str
) -> MarkedNumber | None:
    """What experts gain beyond a part: as their results tell it, or else over that of the part alone."""
    cell = group.cell(model, columns[experts])
    told = beyond(cell, part, _METRIC)
    if told or experts == (part,) or (part,) not in columns:
        return told
    alone = group.cell(model, columns[part,])
    return _gain_over(cell, alone)


def _gain_over(cell: Cell, rival: Cell) -> MarkedNumber | None:
    """The mean gain over another infused model, of the seeds that both have."""
    after, before = (each.values("infused", _SETTING, _METRIC) for each in (cell, rival))
    gains = [after[seed] - before[seed] for seed in after.keys() & before.keys()]
    if not gains:
        return None
    return MarkedNumber(float(np.mean(gains)), "gain", star=bool(is_better(cell, rival, _SETTING)))
