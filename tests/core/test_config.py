"""What is said of a class that cannot be made, whoever wrote it."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from mohone.core.config import build, call
from mohone.core.errors import ConfigError, require_int

OWN = """
import math

class Own:
    def __init__(self, size: int = 1) -> None:
        {line}
"""
TARGET = "torch.nn.Linear"


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str, str], dict[str, Any]]:
    """Writes a module with a class whose constructor is one line; returns what configures it."""

    def write(name: str, line: str) -> dict[str, Any]:
        (tmp_path / f"{name}.py").write_text(OWN.format(line=line))
        return {"_target_": f"{name}.Own"}

    monkeypatch.syspath_prepend(tmp_path)
    return write


@pytest.mark.parametrize(
    ("name", "line", "said"),
    [
        ("own_zero", "1 // 0", "ZeroDivisionError in {0}/own_zero.py:6: integer division or modulo by zero."),
        ("own_assert", "assert size > 1", "AssertionError in {0}/own_assert.py:6."),
        ("own_root", "math.sqrt(-1)", "ValueError in {0}/own_root.py:6: math domain error."),
        (
            "own_import",
            "pass\nimport no_such_module_1",
            "ModuleNotFoundError in {0}/own_import.py:7: No module named 'no_such_module_1'.",
        ),
        ("own_syntax", "size ==== 1", "SyntaxError in {0}/own_syntax.py:6: invalid syntax."),
    ],
)
def test_a_fault_of_a_users_class_has_its_type_and_place(
    own: Callable[..., dict[str, Any]], tmp_path: Path, name: str, line: str, said: str
) -> None:
    with pytest.raises(ConfigError) as refused:
        build("kge_model", own(name, line))
    assert str(refused.value) == f"`kge_model` must configure {name}.Own, but: {said.format(tmp_path)}"
    assert refused.value.__cause__ is not None


def test_so_has_one_of_a_class_that_is_made_later(own: Callable[..., dict[str, Any]], tmp_path: Path) -> None:
    make = build("kge_model", {**own("own_later", "{}[size]"), "_partial_": True})
    with pytest.raises(ConfigError) as refused:
        call("kge_model", make, size=3)
    place = f"{tmp_path}/own_later.py:6"
    assert str(refused.value) == (
        f"`kge_model` must have the arguments of its target, but: KeyError in {place}: 3."
    )
    assert isinstance(refused.value.__cause__, KeyError)


def test_what_a_library_says_of_a_value_has_no_place() -> None:
    with pytest.raises(ConfigError) as refused:
        build("x", {"_target_": TARGET, "in_features": "a", "out_features": 3})
    assert str(refused.value).startswith(f"`x` must configure {TARGET}, but: ")
    assert ".py:" not in str(refused.value)


def test_a_sentence_of_ours_stays_the_sentence() -> None:
    with pytest.raises(ConfigError, match=r"^`dim` must be an integer >= 1, but is 0\.$"):
        call("kge_model", lambda: require_int("dim", 0, 1))


@pytest.mark.parametrize("target", ["torch.Nope", "nosuch.Class"])
def test_a_class_that_there_is_not_is_told_in_one_sentence(
    target: str, caplog: pytest.LogCaptureFixture
) -> None:
    with pytest.raises(ConfigError, match=f"`x` must configure {target}, but: Error loading '{target}'"):
        build("x", {"_target_": target})
    assert not caplog.records
