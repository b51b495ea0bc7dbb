"""Gains in parts: what of an infusion's gain one part alone has, and what comes beyond it."""

from __future__ import annotations

import numpy as np

from mohone.core.config import Plain
from mohone.evaluation.settings import TESTED, UNLINKED
from mohone.reporting.cells import Cell, Entry, MarkedNumber, Table, is_better, mean_of_seeds
from mohone.reporting.groups import ResultGroup
from mohone.reporting.infusions import Column, once_each, parts_of
from mohone.reporting.labels import label, with_papers_models
from mohone.reporting.results import is_gain

_SETTING = "filtered"


def parts_tables(group: ResultGroup, metric: str = "mrr", whole: bool = False) -> list[Table]:
    """A table, filtered, for each way of infusing whose results tell their gain in parts.

    Args:
        group: the results.
        metric: one of `TESTED`.
        whole: have a row for each of the paper's models, also without results.
    """
    told = once_each([column for column in group.columns if group.parts(column)])
    infusions = dict.fromkeys(column.infusion for column in told if not column.is_control)
    return [
        parts_table(group, columns, part, metric, whole)
        for infusion in infusions
        for columns in [[column for column in told if column.measured == infusion]]
        for part in group.parts(columns[0])
    ]


def parts_table(
    group: ResultGroup, columns: list[Column], part: str, metric: str, whole: bool = False
) -> Table:
    """Baseline, retrofitted, the part alone, infused with each network embedding; gain, and gain beyond.

    The gains are those of the first column, that of the paper's network embedding where there is one. A star
    beyond the part is against the part. Where the data set has the setting `unlinked`, its baseline, infused
    figure and gain stand beside.

    Args:
        group: the results.
        columns: of one infusion, and its controls.
        part: its name.
        metric: one of `TESTED`.
        whole: have a row for each of the paper's models, also without results.
    """
    columns = sorted(columns, key=lambda column: column.is_control)
    first, before = columns[0], Column(columns[0].netemb)
    found = [model for model in group.models if any(group.cell(model, each).results for each in columns)]
    retrofitted = [before] if any(group.cell(model, before).results for model in found) else []
    cells = {model: group.cell(model, first) for model in (with_papers_models(found) if whole else found)}
    with_unlinked = any(cell.values("baseline", UNLINKED, metric) for cell in cells.values())
    header = ["Model", "Baseline", *(f"+{column.label}" for column in retrofitted), f"{part} alone"]
    header += [*(f"+{column.label}" for column in columns), "Gain", f"Beyond {part}"]
    header += ["Unlinked", f"+{first.label}, unlinked", "Gain, unlinked"] if with_unlinked else []
    rows = []
    for model, cell in cells.items():
        row: list[Entry] = [label(model), group.baseline(model, _SETTING, metric)]
        row += [group.cell(model, column).shown(_SETTING, metric) for column in retrofitted]
        row += [_alone([group.cell(model, column) for column in columns], part, metric)]
        row += [_above(group, model, column, metric) for column in columns]
        row += [cell.gain(_SETTING, metric), beyond(cell, part, metric)]
        if with_unlinked:
            row += [mean_of_seeds(list(cell.values("baseline", UNLINKED, metric).values()))]
            row += [cell.infused(UNLINKED, metric), cell.gain(UNLINKED, metric)]
        rows.append(tuple(row))
    title = f"{group.title}: {TESTED[metric].label}, {_SETTING}, {first.infusion} in parts"
    compared = bool(retrofitted) and any(
        _is_above(group, model, first, metric) is not None for model in cells
    )
    return Table(title, tuple(header), rows, _note(part, first, with_unlinked, compared))


def _note(part: str, first: Column, with_unlinked: bool, compared: bool) -> str:
    out = f"Gain and beyond {part}: of {first.label}; the star beyond {part} is against {part} alone."
    out += " ‡: better than the retrofitted model, too." if compared else ""
    return out + (" Unlinked: no candidate that train links to the known entity." if with_unlinked else "")


def _above(group: ResultGroup, model: str, column: Column, metric: str) -> Entry:
    """The infused figure, with a mark if it is above the retrofitted one's."""
    shown = group.cell(model, column).shown(_SETTING, metric)
    if not isinstance(shown, MarkedNumber) or column.is_control:
        return shown
    return shown._replace(above=bool(_is_above(group, model, column, metric)))


def _is_above(group: ResultGroup, model: str, column: Column, metric: str) -> bool | None:
    rival = group.cell(model, Column(column.netemb))
    return is_better(group.cell(model, column), rival, _SETTING, metric)


def _told(cell: Cell, part: str) -> list[Plain]:
    return [parts_of(result)[part] for result in cell.results.values() if part in parts_of(result)]


def _alone(cells: list[Cell], part: str, metric: str) -> MarkedNumber | None:
    """The part's own figure, by the first cell that has it; a star if each seed's gain is significant."""
    told = next(filter(None, (_told(cell, part) for cell in cells)), [])
    found = mean_of_seeds([float(each["figures"][_SETTING][metric]) for each in told])
    star = all(is_gain(each["gain"][_SETTING][metric]) for each in told)
    return found and found._replace(star=star)


def beyond(cell: Cell, part: str, metric: str) -> MarkedNumber | None:
    """What the infused model gains over the part; a star if that is significant for each seed."""
    tests = [each["beyond"][_SETTING][metric] for each in _told(cell, part)]
    if not tests:
        return None
    mean = float(np.mean([test["delta"] for test in tests]))
    return MarkedNumber(mean, "gain", star=all(map(is_gain, tests)))
