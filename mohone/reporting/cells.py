"""Results sorted into the cells of tables: all seeds of a model, infused in one way, are a cell."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import numpy as np

from mohone.core.config import Plain
from mohone.core.errors import MohoneError
from mohone.evaluation.significance import paired
from mohone.reporting.results import CONTROL, is_gain, read_ranks

MODELS = ("transe", "transh", "transr", "transd", "rescal", "distmult", "complex", "analogy")  # As the paper.
LABELS = {
    "transe": "TransE",
    "transh": "TransH",
    "transr": "TransR",
    "transd": "TransD",
    "rescal": "RESCAL",
    "distmult": "DistMult",
    "complex": "ComplEx",
    "analogy": "Analogy",
    "shnb": "SHNB",
    "struct": "Struct",
    "node2vec": "Node2vec",
    "deepwalk": "DeepWalk",
}


class AmbiguousError(MohoneError):
    """Results that cannot stand in one table."""


class Number(NamedTuple):
    """A figure of a table.

    Attributes:
        value: a share or a difference of shares, not in points; the mean over seeds.
        kind: how it is written: `points`, `gain` (points with a sign), `percent` (with a sign).
        star: is it better than what it is compared with, for each seed at p < 0.05?
        spread: the standard deviation over seeds; None with one.
        unmoved: did validation choose no infusion, for each seed?
        partial: did a job of another seed fail?
    """

    value: float
    kind: str = "points"
    star: bool = False
    spread: float | None = None
    unmoved: bool = False
    partial: bool = False


class Way(NamedTuple):
    """How a baseline was infused: with which network embedding, in which form."""

    netemb: str
    infusion: str

    @property
    def label(self) -> str:
        """For the head of a column."""
        if self.infusion == CONTROL:
            return "re-trained alone"
        name = LABELS.get(self.netemb, self.netemb)
        return name if self.infusion == "retrofit" else f"{name} ({self.infusion})"


@dataclass
class Cell:
    """One model infused in one way, by seed.

    Attributes:
        results: by seed, those that ended well.
        folders: of these.
        failed: seeds of which a job failed.
    """

    results: dict[int, Plain] = field(default_factory=dict)
    folders: dict[int, Path] = field(default_factory=dict)
    failed: set[int] = field(default_factory=set)

    def values(self, which: str, setting: str, metric: str) -> dict[int, float]:
        """A metric of `baseline` or `infused` by seed."""
        return {
            seed: float(result[which][setting][metric])
            for seed, result in self.results.items()
            if result[which] is not None
        }

    def infused(self, setting: str, metric: str) -> Number | None:
        """With a star if each seed's gain is significant; None where there is none."""
        infused = [result for result in self.results.values() if result["infused"]]
        star = all(is_gain(result["significance"][setting][metric]) for result in infused)
        found = mean_of_seeds(list(self.values("infused", setting, metric).values()))
        unmoved = all(
            result["selection"]["beta"] == 0 and result["infusion"] != CONTROL for result in infused
        )
        partial = bool(self.failed - self.results.keys())
        return found and found._replace(star=star, unmoved=unmoved, partial=partial)

    def gain(self, setting: str, metric: str, relative: bool = False) -> Number | None:
        """Over the baselines of the same seeds, in points or as a share of them."""
        after = self.values("infused", setting, metric)
        before = self.values("baseline", setting, metric)
        if not after:
            return None
        base = float(np.mean([before[seed] for seed in after]))
        change = float(np.mean(list(after.values()))) - base
        if not relative:
            return Number(change, "gain")
        return Number(change / base, "percent") if base else None


@dataclass
class Block:
    """All cells of a data set under a recipe: what the paper shows in one table.

    Attributes:
        dataset, recipe, training: what they share.
        cells: by model and way; a way without a network embedding is a baseline alone.
        baselines: by model and seed, the key of the baseline and the folder of a job that has it.
    """

    dataset: str
    recipe: str
    training: str
    cells: dict[tuple[str, Way], Cell] = field(default_factory=dict)
    baselines: dict[tuple[str, int], tuple[str, Path]] = field(default_factory=dict)

    @property
    def title(self) -> str:
        """Its name in headings."""
        return f"{self.dataset}, recipe {self.recipe} ({self.training})"

    @property
    def models(self) -> list[str]:
        """Those it has, in the paper's order."""
        return sorted({model for model, _ in self.cells}, key=_place(MODELS))

    @property
    def ways(self) -> list[Way]:
        """Those it has, the paper's form first."""
        ways = {way for _, way in self.cells if way.netemb != "none"}
        order = _place(("shnb", "struct", "node2vec"))
        return sorted(ways, key=lambda way: (way.infusion != "retrofit", order(way.netemb), way))

    def baseline(self, model: str, setting: str, metric: str) -> Number | None:
        """Of all cells of the model, each seed once; None where none has ended."""
        found: dict[int, float] = {}
        for (name, _), cell in self.cells.items():
            if name == model:
                found = {**cell.values("baseline", setting, metric), **found}
        return mean_of_seeds(list(found.values()))


def blocks(results: list[tuple[Path, Plain]]) -> list[Block]:
    """Sort results into blocks and cells.

    Raises:
        AmbiguousError: two results for the same cell and seed, or two baselines of the same model and seed,
            of different settings.
    """
    found: dict[tuple[str, str, str], Block] = {}
    for path, result in results:
        key = (result["dataset"]["name"], str(result["recipe"]), result["training"])
        _add(found.setdefault(key, Block(*key)), path, result)
    return list(found.values())


def _add(block: Block, path: Path, result: Plain) -> None:
    model, seed, folder = result["kge_model"], result["seed"], path.parent
    cell = block.cells.setdefault((model, Way(result["netemb"], result["infusion"])), Cell())
    if result["status"] != "ok":
        cell.failed.add(seed)
        return
    if seed in cell.results:
        _check_same(_keys(cell.results[seed]), _keys(result), cell.folders[seed], folder)
    cell.results[seed], cell.folders[seed] = result, folder
    key = result["stages"]["baseline"]["key"]
    known, other = block.baselines.setdefault((model, seed), (key, folder))
    _check_same(known, key, other, folder)


def _check_same(keys: object, others: object, folder: Path, other: Path) -> None:
    if keys != others:
        raise AmbiguousError(
            f"A table must have one result for a cell, and one baseline for a model and seed, but {folder} "
            f"and {other} differ in other settings."
        )


def _keys(result: Plain) -> list[str]:
    return [stage["key"] for stage in result["stages"].values()]


def mean_of_seeds(values: list[float]) -> Number | None:
    """The mean of seeds, and their standard deviation if there are several; None of nothing."""
    if not values:
        return None
    spread = float(np.std(values, ddof=1)) if len(values) > 1 else None
    return Number(float(np.mean(values)), spread=spread)


def is_better(cell: Cell, rival: Cell, setting: str) -> bool:
    """Is one infused model's MRR above another's for each seed, by the paired t-test at p < 0.05?

    It needs the ranks that jobs leave beside their results; without them the answer is no.
    """
    seeds = cell.folders.keys() & rival.folders.keys()
    pairs = [
        (
            read_ranks(rival.folders[seed], "infused", setting),
            read_ranks(cell.folders[seed], "infused", setting),
        )
        for seed in seeds
    ]
    return bool(pairs) and all(
        theirs is not None and ours is not None and is_gain(paired(1 / theirs, 1 / ours))
        for theirs, ours in pairs
    )


def _place(order: tuple[str, ...]) -> Callable[[str], tuple[int, str]]:
    return lambda name: (order.index(name) if name in order else len(order), name)
