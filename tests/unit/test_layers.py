"""Each layer imports only from its left; this is what keeps the core pure."""

import ast
from pathlib import Path

import pytest

import fairsmooth

ROOT = Path(fairsmooth.__file__).parent
FOUNDATION = {"exceptions", "_types", "_validate", "_random", "_registry", "_atomic"}
LAYERS = (
    {"core"},
    {"data"},
    {"training"},
    {"classifier"},
    {"estimator"},
    {"metrics", "guarantees", "attack"},
    {"tuning"},
    {"tables", "persistence", "distributed", "export"},
    {"datasets"},
    {"baselines"},
    {"experiments"},
    {"reporting"},
    {"cli"},
)
# It shares nothing but exceptions with what it checks; the command line alone calls it.
INDEPENDENT = {"verify"}


def _rank(name: str) -> int:
    for position, layer in enumerate(LAYERS):
        if name in layer:
            return position
    raise AssertionError(f"{name} belongs to no layer; add it to LAYERS")


def _imports(path: Path) -> set[str]:
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if (
            isinstance(node, ast.ImportFrom)
            and node.module
            and node.module.startswith("fairsmooth")
        ):
            parts = node.module.split(".")
            found |= {parts[1]} if len(parts) > 1 else {alias.name for alias in node.names}
        elif isinstance(node, ast.Import):
            found |= {
                alias.name.split(".")[1]
                for alias in node.names
                if alias.name.startswith("fairsmooth.")
            }
    return found


def _modules() -> list[Path]:
    return [path for path in sorted(ROOT.rglob("*.py")) if path != ROOT / "__init__.py"]


@pytest.mark.parametrize("path", _modules(), ids=lambda path: str(path.relative_to(ROOT)))
def test_imports_point_left(path):
    owner = path.relative_to(ROOT).parts[0].removesuffix(".py")
    imported = _imports(path) - FOUNDATION - {owner, "__version__"}
    if owner in FOUNDATION:
        assert not imported
    elif owner in INDEPENDENT:
        assert not imported, "the verifier must not trust the code that it checks"
    else:
        too_far = {name for name in imported - INDEPENDENT if _rank(name) > _rank(owner)}
        assert not too_far


def test_core_neither_prints_nor_reads_files():
    banned = {"sklearn", "pandas", "logging", "rich", "typer", "pathlib", "os"}
    for path in (ROOT / "core").rglob("*.py"):
        names = set()
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Import):
                names |= {alias.name.split(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module:
                names.add(node.module.split(".")[0])
        assert not names & banned, path


def test_no_module_outgrows_one_idea():
    longest = {path: len(path.read_text().splitlines()) for path in ROOT.rglob("*.py")}
    assert all(length <= 350 for length in longest.values()), longest
