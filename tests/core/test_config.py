"""What a configuration cannot be, before any work."""

import pytest

from mohone.core.config import compose_plain, settings_of
from mohone.core.errors import ConfigError
from mohone.training.module import FitSettings


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ("graph=null", "`kg` must be a group of keys, but is None"),
        ("pretrained=3", "`pretrained` must be a group of keys, but is 3"),
        ("store_dir=null", "`store_dir` must be a folder, but is None"),
        ("+graph.weights=1", "`graph.weights` must be one of weighting, but is none of them"),
    ],
)
def test_what_cannot_be_is_refused(setting: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        compose_plain([setting])


def test_a_missing_key_is_named() -> None:
    node = compose_plain(["~training.lr"])["training"]
    with pytest.raises(ConfigError, match=r"`training\.lr` must be given, but is missing"):
        settings_of(FitSettings, "training", node)
