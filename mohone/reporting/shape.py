"""What a result must have to be one, as tables, pages and pictures read it; what else it has is free."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

from mohone.evaluation.settings import SETTINGS, TESTED, UNLINKED

Shape = Callable[[Any], bool]
_GREATEST = 1e15  # Of a number in a result, so that any sum and product of some is finite.
_DEEPEST = 50  # Parts of parts in a configuration.


def is_number(value: Any) -> bool:
    """A number that can be computed with.

    Example:
        >>> [is_number(value) for value in (0, 0.5, True, float("nan"), 10**400, "1")]
        [True, True, False, False, False, False]
    """
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return (
        abs(value) < _GREATEST if isinstance(value, int) else math.isfinite(value) and abs(value) < _GREATEST
    )


def is_count(value: Any) -> bool:
    """A whole number that is not negative."""
    return is_number(value) and isinstance(value, int) and value >= 0


def is_text(value: Any) -> bool:
    """A text of any sign that a file can hold."""
    return isinstance(value, str)


def is_flag(value: Any) -> bool:
    """True or false."""
    return isinstance(value, bool)


def optional(shape: Shape) -> Shape:
    """Such a value, or null, or none at all."""
    return lambda value: value is None or shape(value)


def fields(**shapes: Shape) -> Shape:
    """A group with these keys."""
    return group(shapes)


def group(shapes: Mapping[str, Shape]) -> Shape:
    """A group whose keys have these shapes; one that is missing is taken for null."""
    return lambda value: (
        isinstance(value, dict) and all(shape(value.get(key)) for key, shape in shapes.items())
    )


def mapping(shape: Shape) -> Shape:
    """A group of any keys, with values of one shape."""
    return lambda value: isinstance(value, dict) and all(map(shape, value.values()))


def sequence(shape: Shape) -> Shape:
    """A list of values of one shape."""
    return lambda value: isinstance(value, list) and all(map(shape, value))


def is_tree(value: Any, depth: int = _DEEPEST) -> bool:
    """A value of plain types that is not nested without end."""
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return depth > 0 and all(is_tree(each, depth - 1) for each in inner)


_part = fields(mrr=is_number, n_ranked=is_count)
_bins = optional(mapping(optional(_part)))
_figures = group(
    {
        **dict.fromkeys(TESTED, is_number),
        **dict.fromkeys(("degrees", "distances", "categories"), _bins),
        "relations": optional(mapping(_part)),
    }
)
_tests = group(dict.fromkeys(TESTED, fields(delta=is_number, p_value=is_number)))


def _settings(shape: Shape) -> dict[str, Shape]:
    return {**dict.fromkeys(SETTINGS, shape), UNLINKED: optional(shape)}


_model = group({**_settings(_figures), "numbers_per_entity": optional(is_count)})
_in_filtered = fields(filtered=group(dict.fromkeys(TESTED, is_number)))
_tests_in_filtered = fields(filtered=_tests)
_tried = fields(side=optional(is_text), neighbors=is_count, beta=is_number, valid_mrr=is_number)
_told = fields(
    chosen=optional(is_text),
    kept=optional(is_flag),
    side=optional(is_text),
    beta=optional(is_number),
    neighbors=optional(is_count),
    valid_mrr_baseline=optional(is_number),
    grid=optional(
        sequence(lambda point: isinstance(point, dict) and (not point.get("beta") or _tried(point)))
    ),
    experts=optional(is_tree),
    cross_validated_mrr=optional(mapping(is_number)),
    cross_validated_mrr_by_penalty=optional(mapping(is_number)),
)


def _selection(value: Any) -> bool:
    """What validation chose; neighbours are told where entities moved."""
    return _told(value) and (not value.get("beta") or is_count(value.get("neighbors")))


_config = group(
    {
        "choices": optional(mapping(optional(is_text))),
        "dataset": optional(mapping(is_tree)),
        "infusion": optional(fields(experts=optional(is_tree))),
        "netemb": optional(mapping(is_tree)),
        "store_dir": optional(is_text),
    }
)
_dataset = fields(
    name=is_text,
    fingerprint=optional(is_text),
    fingerprints=optional(mapping(is_text)),
    report=optional(fields(warnings=optional(sequence(is_text)))),
    n_entities=optional(is_count),
    n_relations=optional(is_count),
    n_train=optional(is_count),
    n_valid=optional(is_count),
    n_test=optional(is_count),
)
_stage = fields(key=is_text, valid_mrr=optional(is_number))
_baseline_stage = fields(baseline=fields(valid_mrr=is_number))
_part_of_gain = fields(figures=_in_filtered, gain=_tests_in_filtered, beyond=_tests_in_filtered)
_head = {
    "dataset": _dataset,
    **dict.fromkeys(("kge_model", "netemb", "infusion"), is_text),
    **dict.fromkeys(("training", "recipe"), optional(is_text)),
    "seed": is_tree,
    "error": optional(is_text),
    "control": optional(is_flag),
}
_reached = optional(fields(epoch=is_count, valid_mrr=is_number))
is_failed = group({**_head, "reached": _reached, "config": optional(is_tree)})
_has_figures = group(
    {
        **_head,
        "seed": lambda seed: is_number(seed) and isinstance(seed, int),
        "config": optional(lambda config: _config(config) and is_tree(config)),
        "baseline": _model,
        "infused": optional(_model),
        "significance": optional(group(_settings(_tests))),
        "selection": optional(_selection),
        "stages": lambda stages: mapping(_stage)(stages) and _baseline_stage(stages),
        "parts": optional(mapping(_part_of_gain)),
        "seconds": optional(mapping(is_number)),
        "versions": optional(mapping(is_text)),
        "reused": optional(sequence(is_text)),
    }
)


def has_figures(result: Any) -> bool:
    """Is it a result of a job that ended well, with all its figures?"""
    if not _has_figures(result):
        return False
    before, after = result["baseline"], result.get("infused")
    return after is None or (result.get("significance") is not None and _same_parts(before, after))


def _same_parts(before: Mapping[str, Any], after: Mapping[str, Any]) -> bool:
    """Have both models figures of the same settings, relations and bins?"""
    return all(_parts(before.get(setting)) == _parts(after.get(setting)) for setting in (*SETTINGS, UNLINKED))


def _parts(figures: Mapping[str, Any] | None) -> Any:
    """The names of relations and bins that have figures."""
    if figures is None:
        return None
    kinds = {kind: figures.get(kind) for kind in ("relations", "degrees", "distances", "categories")}
    return {kind: {name for name, each in bins.items() if each} for kind, bins in kinds.items() if bins}
