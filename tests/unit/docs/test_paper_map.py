"""The documentation must not name what does not exist."""

import importlib
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
MAP = (ROOT / "docs" / "paper_map.md").read_text(encoding="utf-8")


def _rows():
    lines = [line for line in MAP.splitlines() if line.startswith("| ") and "---" not in line]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[1:]]


def _resolve(dotted):
    parts = dotted.split(".")
    for cut in range(len(parts), 0, -1):
        try:
            found = importlib.import_module(".".join(parts[:cut]))
        except ModuleNotFoundError:
            continue
        for name in parts[cut:]:
            found = getattr(found, name)
        return found
    raise AssertionError(dotted)


@pytest.mark.parametrize("row", _rows(), ids=lambda row: row[0])
def test_every_symbol_and_test_of_the_map_exists(row):
    symbol, test = (re.sub("`", "", cell) for cell in row[-2:])
    assert _resolve(symbol) is not None
    path, _, name = test.partition("::")
    assert (ROOT / path).is_file()
    assert f"def {name}" in (ROOT / path).read_text(encoding="utf-8") if name else True
