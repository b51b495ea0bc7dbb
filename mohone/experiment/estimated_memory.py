"""What a job's stages will hold in memory at their peak, reckoned from sizes before anything is made.

Parts that grow with the data are counted; what is small beside them is not. The figures are held to what
trainings really take by `tests/experiment/test_estimates.py`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import torch

from mohone.core.errors import ConfigError
from mohone.core.machine import GB, memory_left
from mohone.evaluation.chunks import block_elements
from mohone.experiment.plan import Plan
from mohone.experiment.stages.runner import Runner
from mohone.infusion.evidence import Evidence
from mohone.infusion.retrofitting import Retraining
from mohone.kge.tables import LARGE
from mohone.training import NegativeSampling

_NUMBER = 4  # Bytes of one, and of an id.
_ID = 8
_IDS_OF_TRIPLE = 50  # Of a training triple: known answers of both sides, examples, an epoch laid out.
_BYTES_OF_FACT = 32  # Of a training triple, in both directions.
_OF_A_FOLD = 0.8
_CLEARLY = 1.25  # An estimate so many times too large is no error of the estimate.


@dataclass(frozen=True)
class Held:
    """What a stage holds.

    Attributes:
        numbers: of the tables that it trains.
        parts: bytes by what they are.
        device: where they are.
    """

    numbers: int
    parts: Mapping[str, float]
    device: torch.device

    @property
    def total(self) -> float:
        """Bytes, beside what the program held before."""
        return sum(self.parts.values())

    def __str__(self) -> str:
        parts = sorted(self.parts.items(), key=lambda part: -part[1])
        return ", ".join(f"{name} {size / GB:.2g}" for name, size in parts if size >= 0.05 * self.total)


def held(runner: Runner) -> dict[str, Held]:
    """What each stage of a job holds at its peak, and the evaluation at the end, by name."""
    numbers = model_numbers(runner.plan, runner.kg.n_entities, runner.kg.n_relations)
    of_stages: dict[str, Callable[[], Held]] = {
        "netemb": lambda: _network(runner),
        "baseline": lambda: _baseline(runner, *numbers),
        "infusion": lambda: _infusion(runner, numbers[0]),
    }
    stages = {name: of_stages[name]() for name in runner.stages}
    return {**stages, "evaluation": _evaluation(runner, numbers[0])}


def check_memory(runner: Runner) -> None:
    """Refuse a job that is to train a stage for which there is clearly no memory.

    Raises:
        ConfigError: it names what would be held and what is left.
    """
    missing = {name for name, key in runner.keys.items() if not runner.plan.store.place(name, key).is_dir()}
    if not missing:
        return
    for name, each in held(runner).items():
        left = memory_left(each.device)
        if left is not None and each.total > _CLEARLY * left and (name in missing or name == "evaluation"):
            raise ConfigError(f"{too_large(name, each, left)} `check_memory=false` tries all the same.")


def too_large(stage: str, needed: Held, left: int) -> str:
    """That a stage does not fit, and what takes most of the memory."""
    where = "of this GPU" if needed.device.type == "cuda" else "of this machine"
    return (
        f"The {stage} must fit in the memory {where}, of which {left / GB:.1f} GB are left, but would hold "
        f"about {needed.total / GB:.1f} GB ({needed})."
    )


def model_numbers(plan: Plan, n_entities: int, n_relations: int) -> tuple[int, int]:
    """Numbers in a model's tables, and in what its optimiser keeps of them, without making either.

    Tables have a row for each entity or relation: three small models tell how long these are.
    """
    small = (_sizes(plan, n, m) for n, m in ((1, 1), (2, 1), (1, 2)))
    tables, state = (
        one + (n_entities - 1) * (by_entity - one) + (n_relations - 1) * (by_relation - one)
        for one, by_entity, by_relation in zip(*small, strict=True)
    )
    return tables, state


def _sizes(plan: Plan, n_entities: int, n_relations: int) -> tuple[int, int]:
    model = plan.sketch(n_entities, n_relations)
    optimizer = plan.training.new_optimizer(model.parameters(), on_cpu=False)
    for table in model.parameters():
        table.grad = torch.zeros_like(table)
    tables = sum(table.numel() for table in model.parameters())
    try:
        optimizer.step()
    except (RuntimeError, TypeError):  # One that wants other gradients, or more than one look at them.
        return tables, 2 * tables
    kept = [value for state in optimizer.state.values() for value in state.values()]
    return tables, sum(value.numel() for value in kept if isinstance(value, torch.Tensor))


def _baseline(runner: Runner, tables: int, state: int) -> Held:
    plan, kg = runner.plan, runner.kg
    parts = {
        "tables": _NUMBER * tables,
        "optimiser": _NUMBER * state,
        "scores of a step": _scores(plan, kg.n_entities),
        "triples": _triples(runner),
    }
    # Of large tables a step has gradients of few rows, and the best weights lie on the disk.
    if not (plan.training.by_row and tables > LARGE):
        parts |= {"gradients": _NUMBER * tables, "best weights": _NUMBER * tables}
    if plan.given.source is not None:
        parts = {"tables": 2 * _NUMBER * tables, "triples": _triples(runner)}
    return Held(tables, _of_processes(parts, plan.trainers.n_processes), plan.trainers.device)


def _of_processes(parts: Mapping[str, float], n_processes: int) -> Mapping[str, float]:
    return {name: n_processes * size for name, size in parts.items()} if n_processes > 1 else parts


def _triples(runner: Runner) -> float:
    return _ID * _IDS_OF_TRIPLE * len(runner.kg.train)


def _scores(plan: Plan, n_entities: int) -> float:
    """Of a step's queries with all of their candidates: the scores and their gradient.

    Where triples are sampled both sides of all of them are there at once, with a mask.
    """
    objective, batch = plan.training.objective, plan.training.fit.batch_size
    if isinstance(objective, NegativeSampling):
        columns = objective.n_negatives + (batch if objective.in_batch else 0)
        known = 2 * batch * n_entities if objective.filtered else 0
        return 2 * 3 * _NUMBER * batch * columns + known
    drawn = getattr(objective, "n_candidates", None)
    return 2 * _NUMBER * batch * min(n_entities, math.inf if drawn is None else drawn + batch)


def _network(runner: Runner) -> Held:
    """The neighbourhoods as a matrix, or what draws from them, and the vectors with their optimiser's."""
    plan, n = runner.plan, runner.kg.n_entities
    assert plan.embedding is not None
    learner = plan.embedding.learner
    numbers = n * learner.dim
    parts: dict[str, float] = {"vectors": 4 * _NUMBER * numbers, "edges": _ID * 12 * len(runner.kg.train)}
    if learner.objective_for(n) == "exact":
        parts["neighbourhoods"] = n * n * (_NUMBER if _NUMBER * n * n <= GB else _NUMBER / 2)
        parts["scores of a step"] = 5 * _NUMBER * learner.batch_size * n
        return Held(numbers, parts, plan.trainers.device)
    parts["vectors"] = _NUMBER * (numbers + n)
    parts["draws"] = _ID * learner.sampled_batch_size * (learner.n_draws + learner.n_negatives)
    return Held(numbers, parts, torch.device("cpu"))


def _infusion(runner: Runner, tables: int) -> Held:
    """The baseline, two copies that move, and the training again; or it alone, with what votes take."""
    plan, kg = runner.plan, runner.kg
    assert plan.infusion is not None
    device = torch.device("cpu") if plan.infusion.on_cpu else plan.trainers.device
    numbers = kg.n_entities * plan.embedding.learner.dim if plan.embedding and plan.has_embedding else 0
    parts = {
        "tables": (1 if plan.infusion.keeps_baseline else 4) * _NUMBER * tables,
        "network embedding": 2 * _NUMBER * numbers,
        "triples": _triples(runner),
    }
    if isinstance(plan.infusion, Retraining):
        parts["scores of a step"] = _scores(plan, kg.n_entities)
    if isinstance(plan.infusion, Evidence):
        parts |= _fitted(runner, plan.infusion) | _kept_by_experts(runner)
    return Held(tables, parts, device)


def _fitted(runner: Runner, evidence: Evidence) -> dict[str, float]:
    """Lists of candidates with their values, and once more what a fold of them is fitted on."""
    fitting = evidence.fitting(sample=runner.plan.sample(runner.kg))
    width = 1 + sum(len(expert.values) for expert in evidence.new_experts())
    of_list = min(fitting.n_candidates, runner.kg.n_entities) * (_NUMBER * width + _ID)
    grown = 2.5 if runner.kg.n_entities > fitting.most_by_model else 1.0
    return {"lists of candidates": (grown + _OF_A_FOLD) * fitting.n_queries(runner.kg) * of_list}


def _kept_by_experts(runner: Runner) -> dict[str, float]:
    evidence, n = runner.plan.infusion, runner.kg.n_entities
    if not isinstance(evidence, Evidence) or not runner.plan.has_infusion:
        return {}
    kept = sum(expert.held_bytes(n) for expert in evidence.new_experts())
    return {"experts": kept + _BYTES_OF_FACT * len(runner.kg.train)}


def _evaluation(runner: Runner, tables: int) -> Held:
    plan, kg = runner.plan, runner.kg
    device = plan.trainers.device
    has_second = plan.infusion is not None and plan.has_infusion and not plan.infusion.keeps_baseline
    parts = {
        "tables": _NUMBER * tables * (2 if has_second else 1),
        "scores of a block": 4 * _NUMBER * max(block_elements(device), kg.n_entities),
        "triples": _triples(runner),
    }
    return Held(tables, parts | _kept_by_experts(runner), device)
