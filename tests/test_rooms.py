"""The plan of the house: rooms on floors, and no room imports one on a floor above it."""

import ast
from pathlib import Path

import mohone

PACKAGE = Path(mohone.__file__).parent
FLOORS: tuple[tuple[str, ...], ...] = (
    ("core",),
    ("data", "graph"),
    ("kge", "evaluation", "netemb"),
    ("evidence", "elsewhere"),
    ("training",),
    ("infusion",),
    ("reporting", "configuration"),
    ("experiment",),
    ("opened", "sweeps"),
    ("api",),
)
HEIGHT = {room: height for height, rooms in enumerate(FLOORS) for room in rooms}
DOORS = len(FLOORS)  # The commands stand above all rooms.


def imports(path: Path) -> set[str]:
    """The modules of the package that a file imports, wherever it does."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    found = {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and node.module}
    found |= {name.name for node in ast.walk(tree) if isinstance(node, ast.Import) for name in node.names}
    return {name for name in found if name.split(".")[0] == "mohone"}


def room_of(parts: tuple[str, ...]) -> str | None:
    """The room that a path or a dotted name leads into; None: a command, or the door itself."""
    return parts[0] if len(parts) > 1 or parts[0] in HEIGHT else None


def test_every_folder_is_a_room_and_says_its_rule() -> None:
    rooms = {
        path.name for path in PACKAGE.iterdir() if path.is_dir() and path.name not in ("__pycache__", "conf")
    }
    assert rooms == set(HEIGHT)
    for room in rooms:
        rule = ast.get_docstring(ast.parse((PACKAGE / room / "__init__.py").read_text(encoding="utf-8")))
        assert rule, room


def test_what_lies_beside_the_rooms_is_a_command() -> None:
    for path in PACKAGE.glob("*.py"):
        if path.stem != "__init__":
            names = [
                node.name for node in ast.parse(path.read_text()).body if isinstance(node, ast.FunctionDef)
            ]
            assert "main" in names, path


def test_no_room_imports_from_above() -> None:
    risen = []
    for path in sorted(PACKAGE.rglob("*.py")):
        own = room_of(path.relative_to(PACKAGE).parts)
        for name in imports(path):
            other = room_of(tuple(name.split(".")[1:])) if "." in name else None
            height = DOORS if own is None else HEIGHT[own]
            other_height = DOORS if other is None and "." in name else HEIGHT.get(other or "", 0)
            if other != own and other_height > height:
                risen.append((path.name, name))
    assert not risen
