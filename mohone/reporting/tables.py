"""The paper's tables from a group of results: what is in each, not how it is written."""

from __future__ import annotations

from mohone.evaluation.settings import TESTED
from mohone.reporting.cells import Entry, MarkedNumber, Table, is_better
from mohone.reporting.groups import ResultGroup
from mohone.reporting.infusions import Column, once_each
from mohone.reporting.labels import MODELS, label, with_papers_models
from mohone.reporting.parts import parts_tables
from mohone.reporting.reference import PAPER, PUBLISHED

PAPERS_SETTING = "typed"
SHNB, STRUCT, NODE2VEC = (Column(name) for name in ("shnb", "struct", "node2vec"))


def tables_of(group: ResultGroup, against_paper: bool = False) -> list[Table]:
    """All tables of a group: typed as in the paper, SHNB beside node2vec and its control, filtered, in parts.

    Args:
        group: the results.
        against_paper: show all cells that the paper has, also missing ones, and beside them the paper's.
    """
    paper = against_paper and group.dataset in PAPER
    out = [main_table(group, PAPERS_SETTING, metric, paper) for metric in TESTED]
    rivals = [column for column in group.columns if _is_rival(column)]
    if paper and NODE2VEC not in rivals:
        rivals = [NODE2VEC, *rivals]
    controls = once_each([column for column in group.columns if column.is_control])
    for rival in [*rivals, *controls]:
        settings = (PAPERS_SETTING,) if rival == NODE2VEC else (PAPERS_SETTING, "filtered")
        out += [rival_table(group, rival, setting, paper) for setting in settings]
    out += [main_table(group, "filtered", metric, paper) for metric in TESTED]
    out += [table for metric in TESTED for table in parts_tables(group, metric, paper)]
    if paper:
        out += [paper_table(group, metric) for metric in TESTED]
    return out


def main_table(group: ResultGroup, setting: str, metric: str, whole: bool = False) -> Table:
    """Baseline, infused in each way, absolute and relative increase: the paper's table 2.

    Filtered figures stand beside the best published baseline, if one is known. What tells its gain in parts
    has tables of its own, and stands here where there is nothing else.
    """
    columns = [each for each in group.columns if each != NODE2VEC and not each.is_control] or group.columns
    columns = [each for each in columns if not group.parts(each)] or columns
    if whole:
        columns = [SHNB, STRUCT, *(each for each in columns if each not in (SHNB, STRUCT))]
    published = PUBLISHED.get(group.dataset, {}).get(metric) if setting == "filtered" else None
    header = ["Model", "Baseline", *(f"+{column.label}" for column in columns)]
    header += [f"{column.label} {kind}" for kind in ("abs.", "rel.") for column in columns]
    header += ["Best published"] if published else []
    rows = []
    for model in _models(group, whole):
        baseline = group.baseline(model, setting, metric)
        infused = [group.cell(model, column).shown(setting, metric) for column in columns]
        row: list[Entry] = [label(model), baseline, *infused]
        cells = [group.cell(model, column) for column in columns]
        row += [cell.gain(setting, metric, relative) for relative in (False, True) for cell in cells]
        row += [_points(published.get(model))] if published else []
        rows.append(tuple(row))
    return Table(f"{group.title}: {TESTED[metric].label}, {setting}", tuple(header), rows)


def rival_table(group: ResultGroup, rival: Column, setting: str, whole: bool = False) -> Table:
    """SHNB beside node2vec (the paper's table 3) or a control; the star is now a gain over that.

    It is SHNB infused as the rival was, or as what the rival is the control of, or where there is no such
    thing, in the paper's form.
    """
    ours = SHNB._replace(infusion=rival.measured)
    ours = ours if ours in group.infused else SHNB
    versus = f"{ours.label} vs {rival.label}"
    header = ("Model", "Baseline", f"+{rival.label}", f"+{ours.label}", f"{versus} abs.", f"{versus} rel.")
    rows: list[tuple[Entry, ...]] = []
    for model in _models(group, whole):
        after, before = (group.cell(model, column).shown(setting, "mrr") for column in (ours, rival))
        if isinstance(after, MarkedNumber):
            star = is_better(group.cell(model, ours), group.cell(model, rival), setting)
            after = after._replace(star=bool(star))
        if isinstance(before, MarkedNumber):
            before = before._replace(star=False)
        differences = (_difference(before, after, relative) for relative in (False, True))
        rows.append((label(model), group.baseline(model, setting, "mrr"), before, after, *differences))
    return Table(f"{group.title}: {ours.label} and {rival.label}, MRR, {setting}", header, rows)


def _is_rival(column: Column) -> bool:
    return column.netemb == NODE2VEC.netemb and not column.is_control


def paper_table(group: ResultGroup, metric: str) -> Table:
    """Each cell beside the paper's, with the difference."""
    pairs = ("Baseline", "Infused")
    header = ("Model", "Way", *(name for pair in pairs for name in (pair, "Paper's", "Difference")))
    rows: list[tuple[Entry, ...]] = []
    for model in MODELS:
        theirs = PAPER[group.dataset][metric][model]
        baseline, papers = group.baseline(model, PAPERS_SETTING, metric), _points(theirs["baseline"])
        for column in (SHNB, STRUCT, NODE2VEC):
            if column.netemb not in theirs:
                continue
            infused = group.cell(model, column).shown(PAPERS_SETTING, metric)
            papers_infused = _points(theirs[column.netemb])
            ours: tuple[Entry, ...] = (baseline, papers, _difference(papers, baseline))
            ours += (infused, papers_infused, _difference(papers_infused, infused))
            gain = group.cell(model, column).gain(PAPERS_SETTING, metric)
            gains = (gain, _difference(papers, papers_infused))
            rows.append((label(model), column.label, *ours, *gains))
    title = f"{group.title}: {TESTED[metric].label}, {PAPERS_SETTING}, beside the paper's"
    return Table(title, (*header, "Gain", "Paper's"), rows)


def _models(group: ResultGroup, whole: bool) -> list[str]:
    return with_papers_models(group.models) if whole else group.models


def _difference(before: Entry, after: Entry, relative: bool = False) -> Entry:
    if not isinstance(before, MarkedNumber) or not isinstance(after, MarkedNumber):
        return None
    change = after.value - before.value
    if not relative:
        return MarkedNumber(change, "gain")
    return MarkedNumber(change / before.value, "percent") if before.value else None


def _points(value: float | None) -> MarkedNumber | None:
    return None if value is None else MarkedNumber(value / 100)
