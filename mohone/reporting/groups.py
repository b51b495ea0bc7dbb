"""Results sorted into groups, each of which the paper shows in one table, and within these into cells."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from mohone.core.config import Plain
from mohone.core.errors import MohoneError
from mohone.reporting.cells import Cell, MarkedNumber, mean_of_seeds
from mohone.reporting.infusions import Column, column_of, has_infusion, parts_of
from mohone.reporting.labels import place


class AmbiguousError(MohoneError):
    """Results that cannot stand in one table."""


@dataclass
class ResultGroup:
    """All results of a data set under a recipe.

    Attributes:
        dataset, recipe, training: what they share.
        cells: by model and column, also those of baselines alone.
        infused: the columns of infused models.
        baselines: by model and seed, the key of the baseline and the folder of a job that has it.
    """

    dataset: str
    recipe: str
    training: str
    cells: dict[tuple[str, Column], Cell] = field(default_factory=dict)
    infused: set[Column] = field(default_factory=set)
    baselines: dict[tuple[str, int], tuple[str, Path]] = field(default_factory=dict)

    @property
    def title(self) -> str:
        """Its name in headings."""
        return f"{self.dataset}, recipe {self.recipe} ({self.training})"

    @property
    def models(self) -> list[str]:
        """Those it has, in the paper's order."""
        return sorted({model for model, _ in self.cells}, key=place)

    @property
    def columns(self) -> list[Column]:
        """Those of infused models, the paper's form first."""
        return sorted(self.infused, key=lambda column: column.place)

    def parts(self, column: Column) -> list[str]:
        """The parts that the results of a column tell their gain in, in their order."""
        cells = [cell for (_, each), cell in self.cells.items() if each == column]
        return list(
            dict.fromkeys(name for cell in cells for each in cell.results.values() for name in parts_of(each))
        )

    def cell(self, model: str, column: Column) -> Cell:
        """What there is of a model in a column; an empty cell where that is nothing."""
        return self.cells.get((model, column), Cell())

    def baseline(self, model: str, setting: str, metric: str) -> MarkedNumber | None:
        """Of all cells of the model, each seed once; None where none has ended."""
        found: dict[int, float] = {}
        for (name, _), cell in self.cells.items():
            if name == model:
                found = {**cell.values("baseline", setting, metric), **found}
        return mean_of_seeds(list(found.values()))


def group_results(results: list[tuple[Path, Plain]]) -> list[ResultGroup]:
    """Sort results into groups and cells.

    Raises:
        AmbiguousError: two results for the same cell and seed, or two baselines of the same model and seed,
            of different settings.
    """
    found: dict[tuple[str, str, str], ResultGroup] = {}
    for path, result in results:
        key = (result["dataset"]["name"], str(result["recipe"]), str(result["training"]))
        _add(found.setdefault(key, ResultGroup(*key)), path, result)
    return list(found.values())


def _add(group: ResultGroup, path: Path, result: Plain) -> None:
    model, seed, folder, column = result["kge_model"], result["seed"], path.parent, column_of(result)
    cell = group.cells.setdefault((model, column), Cell())
    if has_infusion(result):
        group.infused.add(column)
    if result["status"] != "ok":
        if result["status"] != "stopped":
            cell.failed.add(seed if isinstance(seed, int) else str(seed))  # It may have failed by its seed.
        return
    if seed in cell.results:
        _check_same(_keys(cell.results[seed]), _keys(result), cell.folders[seed], folder)
    cell.results[seed], cell.folders[seed] = result, folder
    key = result["stages"]["baseline"]["key"]
    known, other = group.baselines.setdefault((model, seed), (key, folder))
    _check_same(known, key, other, folder)


def _check_same(keys: object, others: object, folder: Path, other: Path) -> None:
    if keys != others:
        raise AmbiguousError(
            f"A table must have one result for a cell, and one baseline for a model and seed, but {folder} "
            f"and {other} differ in other settings."
        )


def _keys(result: Plain) -> list[str]:
    return [stage["key"] for stage in result["stages"].values()]
