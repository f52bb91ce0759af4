"""The house as CONTRIBUTING describes it: layers, private names, sizes, and who calls whom."""

import ast
from functools import cache
from pathlib import Path

import pytest

import fairsmooth

ROOT = Path(fairsmooth.__file__).parent
GUIDE = (Path(__file__).parents[2] / "CONTRIBUTING.md").read_text(encoding="utf-8")
FOUNDATION = {
    "exceptions", "_types", "_validate", "_random", "_registry", "_atomic", "_lazy", "_palette",
    "_extras",
}  # fmt: skip
# Shares nothing but exceptions with what it checks; the command line alone calls it.
INDEPENDENT, ITS_CALLERS = "verify", {"cli"}
# Rooms of one layer do not import each other, but for these.
NEIGHBOURS = {
    ("tables", "persistence"),
    ("export", "persistence"),
    ("guarantees", "metrics"),
}
MOST_LINES, MOST_BODY_LINES = 300, 40


def _layers() -> list[set[str]]:
    """Read the layers from CONTRIBUTING, so that it cannot say anything else."""
    block = "".join(line for line in GUIDE.splitlines() if line.startswith("    "))
    return [{room.strip() for room in layer.split(",")} for layer in block.split("←")]


LAYERS = _layers()
# The package itself and ``python -m fairsmooth`` stand before and behind all rooms.
ENTRANCES = {ROOT / "__init__.py", ROOT / "__main__.py"}
MODULES = sorted(path for path in ROOT.rglob("*.py") if path not in ENTRANCES)
every_module = pytest.mark.parametrize(
    "path", MODULES, ids=lambda path: str(path.relative_to(ROOT))
)


@cache
def _tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def _room(path: Path) -> str:
    return path.relative_to(ROOT).parts[0].removesuffix(".py")


def _rank(name: str) -> int:
    for position, layer in enumerate(LAYERS):
        if name in layer:
            return position
    raise AssertionError(f"{name} belongs to no layer; add it to CONTRIBUTING")


def _imported_names(path: Path) -> set[tuple[str, ...]]:
    """Return everything of the package that a module imports, as parts of a dotted name."""
    found = set()
    for node in ast.walk(_tree(path)):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "fairsmooth":
            found |= {(*node.module.split(".")[1:], alias.name) for alias in node.names}
        elif isinstance(node, ast.Import):
            dotted = [alias.name.split(".") for alias in node.names]
            found |= {tuple(parts[1:]) for parts in dotted if parts[0] == "fairsmooth"}
    return found - {(), ("__version__",)}


def _may_import(owner: str, other: str) -> bool:
    if owner in FOUNDATION or owner == INDEPENDENT:
        return other in FOUNDATION and (owner in FOUNDATION or other == "exceptions")
    if other in FOUNDATION:
        return True
    if other == INDEPENDENT:
        return owner in ITS_CALLERS
    return _rank(other) < _rank(owner) or (owner, other) in NEIGHBOURS


@every_module
def test_imports_point_left(path):
    owner = _room(path)
    others = {parts[0] for parts in _imported_names(path)} - {owner}
    assert not {other for other in others if not _may_import(owner, other)}


@every_module
def test_private_names_stay_in_their_room(path):
    owner = _room(path)
    foreign = {parts for parts in _imported_names(path) if parts[0] not in {owner, *FOUNDATION}}
    assert not {parts for parts in foreign if any(part.startswith("_") for part in parts)}
    # Nor are they reached through a module that was imported as a whole.
    modules = {parts[-1] for parts in foreign if parts[-1].islower()}
    reached = {
        f"{node.value.id}.{node.attr}"
        for node in ast.walk(_tree(path))
        if isinstance(node, ast.Attribute)
        and isinstance(node.value, ast.Name)
        and node.value.id in modules
        and node.attr.startswith("_")
    }
    assert not {name for name in reached if "__" not in name}


def test_every_room_has_a_place():
    rooms = {_room(path) for path in MODULES} - FOUNDATION - {INDEPENDENT}
    assert not rooms - set.union(*LAYERS)


def test_the_guide_names_every_exception():
    for owner, other in NEIGHBOURS:
        assert f"`{owner}` may import `{other}`" in GUIDE
    for caller in ITS_CALLERS:
        assert f"Only `{caller}` imports `{INDEPENDENT}`" in GUIDE
    assert f"files under {MOST_LINES} lines, function bodies under {MOST_BODY_LINES}" in GUIDE


def test_core_neither_prints_nor_reads_files():
    banned = {"sklearn", "pandas", "logging", "rich", "typer", "pathlib", "os"}
    for path in (ROOT / "core").rglob("*.py"):
        names = set()
        for node in ast.walk(_tree(path)):
            if isinstance(node, ast.Import):
                names |= {alias.name.split(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module:
                names.add(node.module.split(".")[0])
        assert not names & banned, path


def test_no_module_outgrows_one_idea():
    lengths = {path: len(path.read_text(encoding="utf-8").splitlines()) for path in MODULES}
    long = {str(path.relative_to(ROOT)) for path, length in lengths.items() if length > MOST_LINES}
    assert not long


@every_module
def test_no_function_outgrows_one_thought(path):
    functions = [
        node
        for node in ast.walk(_tree(path))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    ]
    assert not {node.name for node in functions if _body_lines(node) > MOST_BODY_LINES}


def _body_lines(node: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    body = node.body[1:] if ast.get_docstring(node) else node.body
    return body[-1].end_lineno - body[0].lineno + 1 if body else 0
