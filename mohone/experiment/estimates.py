"""What a job will take, stage by stage: memory reckoned from sizes, time from some measured steps."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from mohone.core.machine import GB, busy, held_memory, memory_left
from mohone.experiment.estimated_memory import Held, held, too_large
from mohone.experiment.estimated_time import Times
from mohone.experiment.stages.runner import Runner
from mohone.experiment.stopwatch import Time
from mohone.reporting.markdown import table

_HEADER = ("stage", "numbers", "GB at its peak", "of which", "seconds", "reckoned from")
_STORED = Time(0.0, "in the store already")
_UNKNOWN = Time(None, "not measured")


@dataclass(frozen=True)
class Estimate:
    """What a stage will take.

    Attributes:
        stage: its name; `evaluation` is the job's end.
        held: in memory.
        time: how long it takes.
        refusal: a sentence that it cannot fit; empty: it can.
    """

    stage: str
    held: Held
    time: Time
    refusal: str = ""


def estimate(runner: Runner, timed: bool = True) -> list[Estimate]:
    """What each stage of a job will take, and its evaluation.

    Args:
        runner: of the job.
        timed: are steps measured? Of a job that does not fit none are.
    """
    needed = held(runner)
    stored = {name for name, stage in runner.stages.items() if _is_stored(runner, name)}
    refusals = {name: "" if name in stored else _refusal(name, each) for name, each in needed.items()}
    times = Times(runner) if timed and not any(refusals.values()) else None
    return [Estimate(name, each, _time(name, stored, times), refusals[name]) for name, each in needed.items()]


def _is_stored(runner: Runner, name: str) -> bool:
    return runner.stages[name].fault(runner.plan.store.place(name, runner.keys[name])) is None


def _refusal(name: str, needed: Held) -> str:
    left = memory_left(needed.device)
    return "" if left is None or needed.total <= left else too_large(name, needed, left)


def _time(name: str, stored: set[str], times: Times | None) -> Time:
    if name in stored:
        return _STORED
    return _UNKNOWN if times is None else times.of(name)


def stages_table(found: Sequence[Estimate]) -> str:
    """The table of a job, and a line below it of the whole."""
    known = [each.time.seconds for each in found if each.time.seconds is not None]
    total = f"{_seconds(sum(known))} s" if known else "a time that was not measured"
    if 0 < len(known) < len(found):
        missing = [each.stage for each in found if each.time.seconds is None]
        total = f"{total} and the {' and the '.join(missing)}"
    device = found[0].held.device
    left = memory_left()
    here = "" if left is None else f"; {left / GB:.1f} GB are left on this machine"
    program = held_memory() / GB
    lines = [
        table(_HEADER, list(_rows(found))),
        f"In all at most {total}; at its peak the job holds "
        f"{max(each.held.total for each in found) / GB:.1f} GB beside the program's own {program:.1f}{here}.",
    ]
    if known and (load := busy()):
        lines.append(f"{load} while steps were measured: alone they are quicker.")
    if device.type == "cuda":
        lines.append(f"Of the GPU {(memory_left(device) or 0) / GB:.1f} GB are left.")
    return "\n".join(lines)


def _rows(found: Sequence[Estimate]) -> Iterator[tuple[str, ...]]:
    for each in found:
        seconds = "?" if each.time.seconds is None else _seconds(each.time.seconds)
        size = f"{each.held.total / GB:.2f}"
        yield (each.stage, f"{each.held.numbers:,}", size, str(each.held), seconds, each.time.source)


def _seconds(seconds: float) -> str:
    return f"{seconds:,.0f}" if seconds >= 10 or not seconds else f"{seconds:.1f}"
