"""What a result says of its infusion: all that tables and pictures know of one.

New results say it themselves: `control` (is this the control of another's gain?), and in `selection` `kept`
(did validation prefer the infusion to none?) and `chosen` (what it chose, in words). Those of before say it
by the infusion's name and by the point of the grid; no other file of the room looks at these.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from mohone.core.config import Plain
from mohone.core.words import counted
from mohone.reporting.labels import label, place

USUAL = "retrofit"  # The paper's form: tables name the network embedding alone.
_USUAL_SIDE = {"retrofit": "both", "query": "query"}
_MOVED = {"both": "both sides", "query": "the known side alone"}
NONE = "none"  # No network embedding, or no infusion.
_CONTROLS = {  # What they change does not depend on the network embedding. Old results know these alone.
    "retrain": "re-trained alone",
    "evidence_random": "random neighbours",
    "evidence_frequency": "frequency alone",
}
_MEASURED = {
    "evidence_random": "evidence",
    "evidence_frequency": "evidence",
}  # Whose gain a control explains.


class Column(NamedTuple):
    """A column of a table: with which network embedding, and how, a baseline was infused.

    Attributes:
        netemb: the network embedding's name.
        infusion: its name.
        is_control: does it only show what of a gain is due to something else?
    """

    netemb: str
    infusion: str = USUAL
    is_control: bool = False

    @property
    def label(self) -> str:
        """For the column's head.

        >>> Column("shnb").label, Column("node2vec", "evidence").label
        ('SHNB', 'Node2vec (evidence)')
        """
        if not self.is_control:
            return _named(label(self.netemb), self.infusion)
        return _CONTROLS.get(self.infusion, f"{label(self.netemb)} ({self.infusion}, control)")

    @property
    def measured(self) -> str:
        """The infusion whose gain this control is for; of what is none, its own."""
        return _MEASURED.get(self.infusion, self.infusion)

    @property
    def place(self) -> tuple[bool, tuple[int, str], Column]:
        """A key to sort by: the paper's form of infusion first."""
        return self.infusion != USUAL, place(self.netemb), self


def once_each(columns: Sequence[Column]) -> list[Column]:
    """The first column of each label: controls that differ only in what they do not use have one."""
    first: dict[str, Column] = {}
    for column in columns:
        first.setdefault(column.label, column)
    return list(first.values())


def column_of(result: Plain) -> Column:
    """The column that a result belongs to."""
    return Column(result["netemb"], result["infusion"], is_control(result))


def has_infusion(result: Plain) -> bool:
    """Was the baseline infused, or to be, had the job not failed?"""
    if result["status"] == "ok":
        return result["infused"] is not None
    return NONE not in (result["netemb"], result["infusion"])


def is_control(result: Plain) -> bool:
    """Is it the control of another infusion's gain, not one that is to be better?"""
    return bool(result.get("control", result["infusion"] in _CONTROLS))


def changed_nothing(result: Plain) -> bool:
    """Did validation choose no infusion? The control of a gain is never a choice.

    >>> changed_nothing({"infusion": "evidence", "selection": {"kept": False}})
    True
    >>> changed_nothing({"infusion": "retrofit", "selection": {"beta": 0.2}})
    False
    """
    selection = result["selection"] or {}
    kept = selection.get("kept", selection.get("beta") != 0)
    return not kept and not is_control(result)


def parts_of(result: Plain) -> Plain:
    """The parts that a result tells its gain in, by name; most infusions have none.

    Each has `figures` by setting, and by setting and metric the tests `gain`, of the part over the baseline,
    and `beyond`, of all over the part.
    """
    return result.get("parts") or {}


def experts_of(result: Plain) -> tuple[str, ...]:
    """The experts of an infusion that mixes what several say, also of a job that failed; most have none.

    >>> experts_of({"selection": {"experts": {"votes": {}, "paths": {"rules": 3}}}})
    ('votes', 'paths')
    """
    told = (result.get("selection") or {}).get("experts")
    if told is None:
        told = ((result.get("config") or {}).get("infusion") or {}).get("experts")
    return (told,) if isinstance(told, str) else tuple(map(str, told or ()))


def chosen(result: Plain) -> str:
    """What validation chose, in words.

    >>> chosen({"infusion": "retrofit", "selection": {"beta": 0.2, "neighbors": 10}})
    '10 neighbours, beta 0.2'
    >>> chosen({"infusion": "retrofit", "selection": {"beta": 0.2, "neighbors": 10, "side": "query"}})
    '10 neighbours, beta 0.2, the known side alone'
    """
    selection = result["selection"] or {}
    if "chosen" in selection:
        return str(selection["chosen"])
    if changed_nothing(result):
        return "no infusion"
    if "beta" not in selection:
        return ""
    if not selection["beta"]:
        return "no entity moves"
    side = selection.get("side")
    other = f", {_MOVED.get(side, side)}" if side not in (None, _USUAL_SIDE.get(result["infusion"])) else ""
    return f"{counted(selection['neighbors'], 'neighbour')}, beta {selection['beta']:g}{other}"


def network_name(result: Plain) -> str:
    """The network embedding of a job, and the infusion if it is not the usual one.

    >>> network_name({"status": "failed", "netemb": "shnb", "infusion": "query"})
    'shnb (query)'
    """
    return _named(result["netemb"], result["infusion"]) if has_infusion(result) else str(result["netemb"])


def n_neighbors(result: Plain) -> int:
    """How many network neighbours entities were drawn to; 0 where no vector moved."""
    selection = result["selection"] or {}
    return int(selection["neighbors"]) if selection.get("beta") else 0


def tried_points(result: Plain) -> list[Plain]:
    """The points that validation chose from, but for the one that moves nothing.

    Each has `side`, `neighbors`, `beta` and `valid_mrr`; there are none where an infusion has no such grid.
    """
    grid = (result["selection"] or {}).get("grid", [])
    return [point for point in grid if point.get("beta")]


def _named(netemb: str, infusion: str) -> str:
    if netemb == NONE:  # An infusion may need none.
        return infusion
    return netemb if infusion == USUAL else f"{netemb} ({infusion})"
