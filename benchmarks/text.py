"""Measurements and their figures as text, for the pages and for who watches."""

from __future__ import annotations

from typing import Any

Record = dict[str, Any]
MISSING = "-"


def name_of(record: Record) -> str:
    """The name of a measurement."""
    parts = (record.get(key) for key in ("kind", "model", "objective"))
    return str(record.get("name") or " ".join(filter(None, parts)))


def number(value: float | None, unit: str = "") -> str:
    """Three significant digits, whole numbers in full; `MISSING` for None."""
    if value is None:
        return MISSING
    if value == 0 or isinstance(value, int):
        return f"{value:,.0f}{unit}"
    size = abs(value)
    digits = 0 if size >= 99.95 else 1 if size >= 9.995 else 2 if size >= 0.9995 else 3
    return (f"{value:,.{digits}f}" if size >= 0.0995 else f"{value:.3g}") + unit


def machine_line(machine: Record) -> str:
    """Where and with what was measured, when."""
    versions = ", ".join(f"{name} {found}" for name, found in machine["versions"].items() if found)
    return (
        f"{machine['cpu']}, {machine['cores']} cores, {machine['torch_threads']} threads of torch, "
        f"{machine['memory_gb']:g} GB, Python {machine['python']}, {versions}; {machine['date']}."
    )


def page(
    title: str, machine: Record, sections: dict[str, str], records: list[Record], notes: str = ""
) -> str:
    """A page of Markdown: sections by title, those without text left out, and what failed."""
    failed = [f"- {name_of(record)}: {record['failed']}\n" for record in records if "failed" in record]
    shown = {**sections, "What failed": "".join(failed)}
    parts = [f"## {heading}\n\n{body}" for heading, body in shown.items() if body]
    return "\n".join([f"# {title}\n", machine_line(machine) + "\n", *parts, *filter(None, [notes])])
