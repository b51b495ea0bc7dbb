"""The paper's tables from a block of results: what is in each, not how it is written."""

from __future__ import annotations

from dataclasses import dataclass

from mohone.reporting.cells import LABELS, MODELS, Block, Cell, Number, Way, is_better
from mohone.reporting.reference import PAPER, PUBLISHED
from mohone.reporting.results import CONTROL

METRICS = {"mrr": "MRR", "hits@10": "Hits@10"}
PAPERS_SETTING = "typed"
SHNB, STRUCT, NODE2VEC = (Way(name, "retrofit") for name in ("shnb", "struct", "node2vec"))
Value = str | Number | None  # None: missing.


@dataclass(frozen=True)
class Table:
    """A table of names and figures; all rows are as long as the header."""

    title: str
    header: tuple[str, ...]
    rows: list[tuple[Value, ...]]


def tables_of(block: Block, against_paper: bool = False) -> list[Table]:
    """All tables of a block: typed as in the paper, SHNB beside node2vec and its control, filtered.

    Args:
        block: the results.
        against_paper: show all cells that the paper has, also missing ones, and beside them the paper's.
    """
    paper = against_paper and block.dataset in PAPER
    out = [main_table(block, PAPERS_SETTING, metric, paper) for metric in METRICS]
    if paper or NODE2VEC in block.ways:
        out.append(rival_table(block, NODE2VEC, PAPERS_SETTING, paper))
    controls = [way for way in block.ways if way.infusion == CONTROL]
    if controls:  # All are the same: nothing moves, whatever the network embedding.
        out += [rival_table(block, controls[0], setting, paper) for setting in (PAPERS_SETTING, "filtered")]
    out += [main_table(block, "filtered", metric, paper) for metric in METRICS]
    if paper:
        out += [paper_table(block, metric) for metric in METRICS]
    return out


def main_table(block: Block, setting: str, metric: str, whole: bool = False) -> Table:
    """Baseline, infused in each way, absolute and relative increase: the paper's table 2.

    Filtered figures stand beside the best published baseline, if one is known.
    """
    ways = [way for way in block.ways if way != NODE2VEC and way.infusion != CONTROL] or block.ways
    if whole:
        ways = [SHNB, STRUCT, *(way for way in ways if way not in (SHNB, STRUCT))]
    published = PUBLISHED.get(block.dataset, {}).get(metric) if setting == "filtered" else None
    header = ["Model", "Baseline", *(f"+{way.label}" for way in ways)]
    header += [f"{way.label} {kind}" for kind in ("abs.", "rel.") for way in ways]
    header += ["Best published"] if published else []
    rows = []
    for model in _models(block, whole):
        baseline = block.baseline(model, setting, metric)
        infused = [_infused(block, model, way, setting, metric) for way in ways]
        row: list[Value] = [LABELS.get(model, model), baseline, *infused]
        cells = [block.cells.get((model, way), Cell()) for way in ways]
        row += [cell.gain(setting, metric, relative) for relative in (False, True) for cell in cells]
        row += [_points(published.get(model))] if published else []
        rows.append(tuple(row))
    return Table(f"{block.title}: {METRICS[metric]}, {setting}", tuple(header), rows)


def rival_table(block: Block, rival: Way, setting: str, whole: bool = False) -> Table:
    """SHNB beside node2vec (the paper's table 3) or the control; the star is now a gain over that."""
    versus = f"SHNB vs {rival.label}"
    header = ("Model", "Baseline", f"+{rival.label}", "+SHNB", f"{versus} abs.", f"{versus} rel.")
    rows: list[tuple[Value, ...]] = []
    for model in _models(block, whole):
        ours, theirs = (_infused(block, model, way, setting, "mrr") for way in (SHNB, rival))
        cell, other = (block.cells.get((model, way)) for way in (SHNB, rival))
        if isinstance(ours, Number):
            ours = ours._replace(star=bool(cell and other and is_better(cell, other, setting)))
        if isinstance(theirs, Number):
            theirs = theirs._replace(star=False)
        differences = (_difference(theirs, ours, relative) for relative in (False, True))
        baseline = block.baseline(model, setting, "mrr")
        rows.append((LABELS.get(model, model), baseline, theirs, ours, *differences))
    return Table(f"{block.title}: SHNB and {rival.label}, MRR, {setting}", header, rows)


def paper_table(block: Block, metric: str) -> Table:
    """Each cell beside the paper's, with the difference."""
    pairs = ("Baseline", "Infused")
    header = ("Model", "Way", *(name for pair in pairs for name in (pair, "Paper's", "Difference")))
    rows: list[tuple[Value, ...]] = []
    for model in MODELS:
        theirs = PAPER[block.dataset][metric][model]
        baseline, papers = block.baseline(model, PAPERS_SETTING, metric), _points(theirs["baseline"])
        for way in (SHNB, STRUCT, NODE2VEC):
            if way.netemb not in theirs:
                continue
            infused = _infused(block, model, way, PAPERS_SETTING, metric)
            papers_infused = _points(theirs[way.netemb])
            ours: tuple[Value, ...] = (baseline, papers, _difference(papers, baseline))
            ours += (infused, papers_infused, _difference(papers_infused, infused))
            gain = block.cells.get((model, way), Cell()).gain(PAPERS_SETTING, metric)
            gains = (gain, _difference(papers, papers_infused))
            rows.append((LABELS[model], way.label, *ours, *gains))
    title = f"{block.title}: {METRICS[metric]}, {PAPERS_SETTING}, beside the paper's"
    return Table(title, (*header, "Gain", "Paper's"), rows)


def _models(block: Block, whole: bool) -> list[str]:
    return [*MODELS, *(model for model in block.models if model not in MODELS)] if whole else block.models


def _infused(block: Block, model: str, way: Way, setting: str, metric: str) -> Value:
    cell = block.cells.get((model, way), Cell())
    return cell.infused(setting, metric) or ("failed" if cell.failed else None)


def _difference(before: Value, after: Value, relative: bool = False) -> Value:
    if not isinstance(before, Number) or not isinstance(after, Number):
        return None
    change = after.value - before.value
    if not relative:
        return Number(change, "gain")
    return Number(change / before.value, "percent") if before.value else None


def _points(value: float | None) -> Number | None:
    return None if value is None else Number(value / 100)
