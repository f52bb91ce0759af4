import importlib.util
from pathlib import Path

import pytest

TOOL = Path(__file__).parents[3] / "tools" / "fill_tables.py"


@pytest.fixture(scope="module")
def tool():
    spec = importlib.util.spec_from_file_location("fill_tables", TOOL)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_tables_are_those_of_the_committed_results(tool):
    pages = {page: page.read_text(encoding="utf-8") for page in tool.PAGES}
    stale = [page.name for page, text in pages.items() if tool.filled(text) != text]
    assert not stale, f"run python {TOOL.relative_to(Path.cwd())}"
    shown = "".join(pages.values())
    assert all(f"<!-- table: {name} -->" in shown for name in tool.BLOCKS)


def test_an_altered_figure_is_put_right(tool):
    page = "before\n<!-- table: tradeoff-goals -->\n| wrong |\n<!-- end -->\nafter"
    again = tool.filled(page)
    assert "| wrong |" not in again
    assert again.startswith("before\n<!-- table")
    assert again.endswith("<!-- end -->\nafter")
    assert tool.filled(again) == again
