"""A digest of the code that a job runs through: what else can change its outcome.

The modules are found by following imports from where the job begins, its method and its dataset;
comments, docstrings and blank lines do not count, and neither do readers of a user's files: jobs
have their rows from the package. The versions of the numerical libraries do.
"""

import ast
import hashlib
import json
from collections.abc import Iterator
from contextlib import suppress
from functools import cache, partial
from importlib.metadata import version
from pathlib import Path
from typing import Any

import fairsmooth
from fairsmooth.baselines import FromModule, Method
from fairsmooth.datasets import entry
from fairsmooth.experiments.run.job import Job

PACKAGE = "fairsmooth"
ROOT = Path(fairsmooth.__file__).parent
_BEGINS = {"candidate": "fit"}
# Imported by jobs, and run by none (a test follows their calls).
IDLE = f"{PACKAGE}.data.files."
_LIBRARIES = ("numpy", "scipy", "scikit-learn", "torch")
_DIGITS = 16
_TRIES = 9


def code_digest(job: Job, method: Method | None = None) -> str:
    """Return the digest of all that a job's outcome depends on, beside the job itself."""
    begins = [f"{PACKAGE}.experiments.run.{_BEGINS.get(job.kind, job.kind)}"]
    begins.append(f"{PACKAGE}.datasets.{job.dataset}")
    declared: dict[str, Any] = {}
    if method is not None:
        maker: Any = method.estimator
        while isinstance(maker, partial):
            declared |= {"given": maker.keywords}
            maker = maker.func
        begins += [maker.module] if isinstance(maker, FromModule) else []
        declared |= {"fixed": method.fixed}
        declared |= {"quick": method.quick} if job.quick else {}
    return _digest(
        tuple(begins),
        entry(job.dataset).checksum or "",
        json.dumps(declared, sort_keys=True, default=str),
    )


@cache
def modules_of(begins: tuple[str, ...]) -> tuple[str, ...]:
    """Return the modules of the package that some modules import, directly or not, in order."""
    found: set[str] = set()
    waiting = list(begins)
    while waiting:
        name = waiting.pop()
        if name not in found and not name.startswith(IDLE) and _file(name) is not None:
            found.add(name)
            waiting += _imported(name)
    return tuple(sorted(found))


@cache
def _digest(begins: tuple[str, ...], checksum: str, declared: str) -> str:
    parts = [f"{name} {_code(name)}" for name in modules_of(begins)]
    parts += [f"{name} {version(name)}" for name in _LIBRARIES]
    text = "\n".join([*parts, checksum, declared])
    return hashlib.sha256(text.encode()).hexdigest()[:_DIGITS]


@cache
def _code(name: str) -> str:
    """Return the digest of a module without what only people read."""
    file = _file(name)
    assert file is not None
    return hashlib.sha256(essence(file.read_text(encoding="utf-8")).encode()).hexdigest()


def essence(source: str) -> str:
    r"""Return source without docstrings, comment lines and blank lines.

    Examples
    --------
    >>> essence('\"\"\"About.\"\"\"\n\n# why\nx = 1  # kept\n')
    'x = 1  # kept'
    """
    lines = source.splitlines()
    for node in ast.walk(_parsed(source)):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            for told in filter(_is_text, node.body[:1]):
                for line in range(told.lineno - 1, told.end_lineno or told.lineno):
                    lines[line] = ""
    return "\n".join(line for line in lines if line.strip() and not line.lstrip().startswith("#"))


def _is_text(node: ast.stmt) -> bool:
    constant = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    return constant and isinstance(node.value.value, str)  # type: ignore[attr-defined]


@cache
def _tree(name: str) -> ast.Module:
    file = _file(name)
    assert file is not None
    return _parsed(file.read_text(encoding="utf-8"))


def _parsed(source: str) -> ast.Module:
    """Parse; CPython 3.11 miscounts its own depth where two threads do so at the same time."""
    for _ in range(_TRIES - 1):
        with suppress(SystemError):
            return ast.parse(source)
    return ast.parse(source)


def _file(name: str) -> Path | None:
    """Return the file of a module of the package, or None; the package itself has no code."""
    parts = name.split(".")
    if parts[0] != PACKAGE or len(parts) == 1:
        return None
    place = ROOT.joinpath(*parts[1:])
    files = (place.with_suffix(".py"), place / "__init__.py")
    return next((file for file in files if file.is_file()), None)


def _imported(name: str) -> list[str]:
    return [module for node in _imports(_tree(name)) for module in _modules(node)]


def _imports(tree: ast.Module) -> Iterator[ast.stmt]:
    """Yield the imports of a module, also those inside functions; not what type checkers read."""
    waiting: list[ast.AST] = list(tree.body)
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Import | ast.ImportFrom):
            yield node
        elif not (isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"):
            # Imports are statements, and statements stand in these alone.
            for part in ("body", "orelse", "finalbody", "handlers"):
                inner = getattr(node, part, None)
                waiting += inner if isinstance(inner, list) else []


def _modules(node: ast.stmt) -> Iterator[str]:
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
    elif isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
        for alias in node.names:
            inside = f"{node.module}.{alias.name}"
            yield inside if _file(inside) else _homes(node.module).get(alias.name, node.module)


@cache
def _homes(name: str) -> dict[str, str]:
    """Return where a package has its names from, now or when they are asked for."""
    file = _file(name)
    if file is None or file.name != "__init__.py":
        return {}
    found: dict[str, str] = {}
    for node in _tree(name).body:
        if isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
            found |= {alias.asname or alias.name: node.module for alias in node.names}
        elif isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "_HOMES":
            found |= ast.literal_eval(node.value)
    return found
