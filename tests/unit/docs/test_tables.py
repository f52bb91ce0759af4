import importlib
import sys
from pathlib import Path

import pytest

TOOLS = Path(__file__).parents[3] / "tools"


@pytest.fixture
def tool(monkeypatch):
    monkeypatch.syspath_prepend(TOOLS)
    yield importlib.import_module("fill_tables")
    for name in [name for name in sys.modules if name.split(".")[0] in ("fill_tables", "filling")]:
        del sys.modules[name]


def test_tables_are_those_of_the_committed_results(tool):
    pages = {page: page.read_text(encoding="utf-8") for page in tool.PAGES}
    stale = [page.name for page, text in pages.items() if tool.filled(text) != text]
    assert not stale, "run python tools/fill_tables.py"
    shown = "".join(pages.values())
    assert all(f"<!-- table: {name} -->" in shown for name in tool.BLOCKS)


def test_an_altered_figure_is_put_right(tool):
    page = "before\n<!-- table: tradeoff-goals -->\n| wrong |\n<!-- end -->\nafter"
    again = tool.filled(page)
    assert "| wrong |" not in again
    assert again.startswith("before\n<!-- table")
    assert again.endswith("<!-- end -->\nafter")
    assert tool.filled(again) == again
