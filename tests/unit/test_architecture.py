"""The walks of docs/architecture.md: short, and through files and functions that exist."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src" / "fairsmooth"
PAGE = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
WALKS = dict(re.findall(r"^`fairsmooth (\w+)[^\n]*`:\n\n((?:\d.*\n)+)", PAGE, flags=re.M))


def test_every_walk_is_there():
    assert set(WALKS) >= {"train", "predict", "audit", "guarantee", "reproduce", "verify"}


@pytest.mark.parametrize("name", WALKS)
def test_a_walk_has_at_most_twelve_hops_each_of_which_exists(name):
    hops = WALKS[name].splitlines()
    assert len(hops) <= 12
    for hop in hops:
        places = re.findall(r"`([\w/]+(?:\.py|/))`", hop)
        assert places, hop
        assert all((PACKAGE / place).exists() for place in places), hop
        # A name that follows a file stands in it.
        for place, function in re.findall(r"`([\w/]+\.py)`, `([\w.]+)`", hop):
            word = function.rpartition(".")[2]
            assert re.search(rf"(def|class) {word}\b", (PACKAGE / place).read_text()), hop


def test_every_file_named_on_the_page_exists():
    files = set(re.findall(r"`([a-z_]+/[\w/]+\.py)`", PAGE))
    known = [place for place in files if not place.startswith(("tests/", "tools/"))]
    assert [place for place in known if not (PACKAGE / place).exists()] == []
