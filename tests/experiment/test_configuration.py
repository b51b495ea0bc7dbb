"""What a configuration cannot be, before any work."""

import pytest

from mohone.core.errors import ConfigError
from mohone.experiment.configuration import compose_plain


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ("network=null", "`network` must be a group of keys, but is None"),
        ("pretrained=3", "`pretrained` must be a group of keys, but is 3"),
        ("store_dir=null", "`store_dir` must be a folder, but is None"),
        ("+network.weights=1", "`network.weights` must be one of weighting, but is none of them"),
    ],
)
def test_what_cannot_be_is_refused(setting: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        compose_plain([setting])


@pytest.mark.parametrize("given", ["infusion=none infusion.beta=1", "logger=none logger.x=1"])
def test_a_key_of_a_group_that_is_none_is_refused_as_such(given: str) -> None:
    with pytest.raises(ConfigError, match="must be left out, for "):
        compose_plain(given.split())
