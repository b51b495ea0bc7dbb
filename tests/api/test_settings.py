"""What Python says becomes what a command line says."""

from typing import Any

import pytest
from hydra.core.override_parser.overrides_parser import OverridesParser
from hypothesis import given
from hypothesis import strategies as st

import mohone
from mohone.api.settings import configure
from mohone.configuration.compose import compose_plain
from mohone.configuration.overrides import override
from mohone.core.errors import ConfigError
from mohone.data import KnowledgeGraph

PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3),
    max_leaves=6,
)


@given(PLAIN)
def test_hydra_reads_a_value_as_it_was_given(value: Any) -> None:
    (parsed,) = OverridesParser.create().parse_overrides([override("some.key", value)])
    assert parsed.value() == value


def test_a_key_of_a_part_is_found_and_is_what_a_command_line_would_say(umls: KnowledgeGraph) -> None:
    choice = mohone.TransE(dim=8, norm=2)
    config = configure(umls, choice, {"lr": 0.5, "training.max_epochs": 3, "n3": 0.01, "seed": 4})
    typed = [
        "dataset=folder",
        "netemb=none",
        "infusion=none",
        "kge_model=transe",
        "dim=8",
        "kge_model.norm=2",
        "training.optimizer.lr=0.5",
        "training.fit.max_epochs=3",
        "training.objective.n3=0.01",
        "seed=4",
    ]
    wanted = compose_plain(typed)
    apart = ("store_dir", "dataset")  # Here with absolute paths.
    assert {k: config[k] for k in config if k not in apart} == {
        k: wanted[k] for k in wanted if k not in apart
    }


@pytest.mark.parametrize(
    ("group", "key", "sentence"),
    [
        ("kge_model", "lrr", "`lrr` must be one of lr, "),
        ("kge_model", "netemb.scale", "`fit` has no use for it"),
        ("netemb", "training.lr", "`embed_network` has no use for it"),
        ("infusion", "dataset.path", "`infuse` has no use for it"),
        ("infusion", "kernel", "`kernel` must be one of "),
        ("infusion", "progress", "`progress` must be given to `fit`, whose values hold for `infuse`, too"),
        ("infusion", "trainer.precision", "`trainer.precision` must be given to `fit`"),
        ("infusion", "seed", "`seed` must be one of "),  # Retrofitting draws nothing.
    ],
)
def test_a_key_that_cannot_be_is_one_sentence(
    umls: KnowledgeGraph, group: str, key: str, sentence: str
) -> None:
    usual = {"kge_model": mohone.TransE(), "netemb": mohone.SHNB(), "infusion": mohone.Retrofit()}
    with pytest.raises(ConfigError) as told:
        configure(umls, usual[group], {key: 1})
    assert sentence in str(told.value)
    assert "\n" not in str(told.value)


def test_a_choice_of_another_group_is_refused(umls: KnowledgeGraph) -> None:
    with pytest.raises(TypeError, match="must be a name or a choice of `kge_model`"):
        mohone.fit(umls, mohone.SHNB())
