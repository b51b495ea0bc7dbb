"""Data sets of one name, of which a folder of results may have several, named apart."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path, PurePath

from mohone.core.config import Plain

Results = list[tuple[Path, Plain]]


def name_apart(results: Results) -> Results:
    """The same results; where several data sets have one name, it is followed by what tells them apart.

    A data set is known by its fingerprint; of a job that failed before it was read, by its folder.
    """
    of_folder = {_folder(result): _fingerprint(result) for _, result in results if _fingerprint(result)}
    identities = [
        _fingerprint(result) or of_folder.get(_folder(result)) or _folder(result) for _, result in results
    ]
    folders: dict[str, dict[str, str]] = {}  # By name and identity.
    for (_, result), identity in zip(results, identities, strict=True):
        if identity:
            folders.setdefault(result["dataset"]["name"], {}).setdefault(identity, _folder(result))
    endings = {name: _endings(found) for name, found in folders.items() if len(found) > 1}
    return [
        (path, _renamed(result, endings.get(result["dataset"]["name"], {}).get(identity)))
        for (path, result), identity in zip(results, identities, strict=True)
    ]


def _fingerprint(result: Plain) -> str:
    return str(result["dataset"].get("fingerprint") or "")


def _folder(result: Plain) -> str:
    dataset = (result.get("config") or {}).get("dataset")
    path = dataset.get("path") if isinstance(dataset, dict) else None
    return path if isinstance(path, str) else ""


def _endings(folders: dict[str, str]) -> dict[str, str]:
    """What to write behind the name of each: as much of its folder as it takes, or of its fingerprint."""
    short = shortest_endings(list(folders.values()))
    if short is None:
        return {identity: identity[:6] for identity in folders}
    return dict(zip(folders, short, strict=True))


def shortest_endings(paths: Sequence[str]) -> list[str] | None:
    """The last parts of each path, as few as tell them apart; None where nothing does.

    >>> shortest_endings(["/data/a/kg", "/data/b/kg"])
    ['a/kg', 'b/kg']
    """
    for n in range(1, 1 + max(len(PurePath(path).parts) for path in paths)):
        endings = ["/".join(PurePath(path).parts[-n:]) for path in paths]
        if len({*endings}) == len(paths) and all(endings):
            return endings
    return None


def _renamed(result: Plain, ending: str | None) -> Plain:
    if ending is None:
        return result
    dataset = result["dataset"]
    return {**result, "dataset": {**dataset, "name": f"{dataset['name']} ({ending})"}}
