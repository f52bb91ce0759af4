"""What a release says of itself agrees wherever it is said."""

import re
import tomllib
from pathlib import Path

import fairsmooth

ROOT = Path(__file__).parents[2]


def test_the_version_is_one():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    changes = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    newest = re.search(r"^## (\d+\.\d+\.\d+)", changes, flags=re.MULTILINE)
    assert newest is not None
    assert {project["version"], newest[1]} == {fairsmooth.__version__}
    assert f"\nversion: {fairsmooth.__version__}\n" in citation


def test_hooks_run_what_lint_runs():
    hooks = (ROOT / ".pre-commit-config.yaml").read_text(encoding="utf-8")
    lint = re.search(r"^lint:.*\n((?:\t.*\n)+)", (ROOT / "Makefile").read_text(), re.MULTILINE)
    assert lint is not None
    commands = [line.strip().removeprefix("$(BIN)/") for line in lint[1].splitlines()]
    assert commands
    for command in commands:
        assert f"entry: .venv/bin/{command.removesuffix(' .')}\n" in hooks
