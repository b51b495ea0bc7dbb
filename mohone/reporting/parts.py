"""Gains in parts: what of an infusion's gain one part alone has, and what comes beyond it."""

from __future__ import annotations

import numpy as np

from mohone.evaluation.settings import TESTED, UNLINKED
from mohone.reporting.cells import Cell, MarkedNumber, mean_of_seeds
from mohone.reporting.groups import ResultGroup
from mohone.reporting.infusions import Column
from mohone.reporting.labels import label
from mohone.reporting.results import is_gain
from mohone.reporting.tables import Entry, Table


def parts_tables(group: ResultGroup, metric: str = "mrr") -> list[Table]:
    """A table, filtered, for each way of infusing whose results tell their gain in parts."""
    return [
        parts_table(group, column, part, metric) for column in group.columns for part in _parts(group, column)
    ]


def parts_table(group: ResultGroup, column: Column, part: str, metric: str) -> Table:
    """Baseline, the part alone, infused; the gain, and what lies beyond the part, with a star of its own.

    Where the data set has the setting `unlinked`, its baseline, infused figure and gain stand beside.
    """
    cells = {model: group.cell(model, column) for model in group.models}
    with_unlinked = any(cell.values("baseline", UNLINKED, metric) for cell in cells.values())
    header = ["Model", "Baseline", f"{part} alone", f"+{column.label}", "Gain", f"Beyond {part}"]
    header += ["Unlinked", f"+{column.label}, unlinked", "Gain, unlinked"] if with_unlinked else []
    rows = []
    for model, cell in cells.items():
        if not cell.results:
            continue
        row: list[Entry] = [label(model), group.baseline(model, "filtered", metric)]
        row += [_alone(cell, part, metric), cell.infused("filtered", metric)]
        row += [cell.gain("filtered", metric), _beyond(cell, part, metric)]
        if with_unlinked:
            before = mean_of_seeds(list(cell.values("baseline", UNLINKED, metric).values()))
            row += [before, cell.infused(UNLINKED, metric), cell.gain(UNLINKED, metric)]
        rows.append(tuple(row))
    title = f"{group.title}: {TESTED[metric].label}, filtered, {column.label} in parts"
    return Table(title, tuple(header), rows)


def _parts(group: ResultGroup, column: Column) -> list[str]:
    """The names of the parts that results of this column tell of, in their order."""
    results = [result for model in group.models for result in group.cell(model, column).results.values()]
    return list(dict.fromkeys(name for result in results for name in result.get("parts", {})))


def _alone(cell: Cell, part: str, metric: str) -> MarkedNumber | None:
    """The part's own figure; a star if each seed's gain over the baseline is significant."""
    told = [result["parts"][part] for result in cell.results.values() if part in result.get("parts", {})]
    found = mean_of_seeds([float(each["figures"]["filtered"][metric]) for each in told])
    star = all(is_gain(each["gain"]["filtered"][metric]) for each in told)
    return found and found._replace(star=star)


def _beyond(cell: Cell, part: str, metric: str) -> MarkedNumber | None:
    """What the infused model gains over the part; a star if that is significant for each seed."""
    told = [result["parts"][part] for result in cell.results.values() if part in result.get("parts", {})]
    if not told:
        return None
    tests = [each["beyond"]["filtered"][metric] for each in told]
    return MarkedNumber(
        float(np.mean([test["delta"] for test in tests])), "gain", star=all(map(is_gain, tests))
    )
