"""Presence is registration, and nothing else is."""

import sys
from types import SimpleNamespace

import pytest

from fairsmooth._registry import discover, named
from fairsmooth.exceptions import InputError


@pytest.fixture
def package(tmp_path, monkeypatch):
    folder = tmp_path / "shelf"
    folder.mkdir()
    (folder / "__init__.py").write_text("")
    (folder / "_machinery.py").write_text("THINGS = 1 / 0\n")
    monkeypatch.syspath_prepend(tmp_path)
    for name in [name for name in sys.modules if name.split(".")[0] == "shelf"]:
        monkeypatch.delitem(sys.modules, name)
    return folder


def declare(folder, name, thing):
    text = f"from types import SimpleNamespace\nTHINGS = (SimpleNamespace(name={thing!r}),)\n"
    (folder / f"{name}.py").write_text(text)


def found():
    import shelf

    return [each.name for each in discover(shelf, "THINGS")]


def test_a_file_is_found_by_being_there(package):
    declare(package, "second", "b")
    declare(package, "first", "a")
    assert found() == ["a", "b"]


def test_a_file_without_a_declaration_is_an_error(package):
    (package / "empty.py").write_text("")
    with pytest.raises(RuntimeError, match=r"Expected shelf\.empty to declare THINGS, found none"):
        found()


def test_two_of_one_name_are_an_error(package):
    declare(package, "first", "a")
    declare(package, "second", "a")
    with pytest.raises(RuntimeError, match=r"got 'a' a second time in shelf\.second"):
        found()


def test_unknown_names_list_the_choices():
    entries = [SimpleNamespace(name="a"), SimpleNamespace(name="b")]
    assert named(entries, thing="b") is entries[1]
    with pytest.raises(InputError, match="Expected thing to be one of 'a', 'b', got thing='c'"):
        named(entries, thing="c")
