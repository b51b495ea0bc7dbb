"""What a job is told on the command line."""

from __future__ import annotations

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from mohone.configuration.compose import absolute_paths, check_paths, compose_plain
from tests.helpers.fuzz import Refused, mutated, outcome, tries

USUAL = [
    "kge_model=transe",
    "training.lr=0.1",
    "dim=8",
    "infusion.beta=[0,0.2]",
    "netemb=node2vec",
    "netemb.p=0.5",
    "recipe=strong",
    "+training.objective.n3=0.1",
    "~training.scheduler",
    "store_dir=/tmp/store",
    "dataset.path='a b'",
    "seed=3",
    "trainer.precision=32-true",
    "training.optimizer=adam",
    "callbacks=[{_target_:a.B}]",
]


@tries(15, cost=20)
@given(draw=st.data())
def test_command_lines(draw: st.DataObject) -> None:
    given = draw.draw(st.lists(st.sampled_from(USUAL), max_size=3, unique=True))
    bad = draw.draw(st.sampled_from(USUAL).flatmap(lambda line: mutated(line.encode())))
    typed = [*given, bad.decode(errors="surrogateescape")]
    config = outcome(lambda: compose_plain(typed))
    if not isinstance(config, Refused):
        outcome(lambda: check_paths(absolute_paths(config, Path("/tmp"))))
