import importlib
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture
def mutants(monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "tools")
    yield importlib.import_module("mutants")
    for name in ("mutants", "mutant_faults"):
        sys.modules.pop(name, None)


def faults():
    return importlib.import_module("mutant_faults").FAULTS


def test_every_fault_still_fits_the_tree(mutants):
    mutants.check(faults(), ROOT)
    names = [fault.name for fault in faults()]
    assert len(names) == len(set(names)) >= 20
    rooms = {fault.path.split("/")[2] for fault in faults()}
    assert {"core", "training", "verify", "metrics"} <= rooms
    for fault in faults():
        compile(mutants.mutated(fault, ROOT), fault.path, "exec")


@pytest.fixture
def small(tmp_path, mutants):
    (tmp_path / "src").mkdir()
    (tmp_path / "tests").mkdir()
    (tmp_path / "pyproject.toml").write_text("[tool.pytest.ini_options]\n")
    (tmp_path / "src" / "sums.py").write_text("def add(a, b):\n    return a + b\n")
    (tmp_path / "tests" / "test_sums.py").write_text(
        "from sums import add\n\n\ndef test_add():\n    assert add(2, 0) == 2\n"
    )
    return tmp_path


def fault(mutants, new, **changes):
    given = {"old": "a + b", "path": "src/sums.py", "tests": ("tests/test_sums.py",)} | changes
    return mutants.Fault(name="one", new=new, **given)


@pytest.mark.parametrize(
    ("new", "equivalent", "verdict", "expected"),
    [
        ("a + 2 * b + 1", "", "killed", True),
        ("a - b", "", "survived", False),
        ("a - b", "nobody adds anything else", "equivalent", True),
        ("a * 0", "said to be", "killed", False),
        ("a +", "", "broken (pytest ended with 2)", False),
    ],
)
def test_what_is_said_of_a_fault(mutants, small, new, equivalent, verdict, expected):
    before = (small / "src" / "sums.py").read_text()
    outcome = mutants.try_fault(fault(mutants, new, equivalent=equivalent), small)
    assert (outcome.verdict, outcome.expected) == (verdict, expected)
    assert (small / "src" / "sums.py").read_text() == before
    if verdict == "killed":
        assert outcome.noticed_by == "tests/test_sums.py::test_add"


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"old": "a * b"}, "expected its old text exactly once in src/sums.py, found it 0 times"),
        ({"old": "a"}, "expected its old text exactly once in src/sums.py, found it 3 times"),
        ({"path": "src/none.py"}, "expected the file src/none.py, found none"),
        ({"tests": ("tests/none.py",)}, "expected the tests tests/none.py, found none"),
    ],
)
def test_a_fault_that_no_longer_fits_is_refused(mutants, small, changes, message):
    with pytest.raises(mutants.StaleFault, match=message):
        mutants.check([fault(mutants, "b", **changes)], small)


def test_tests_that_fail_without_a_fault_show_nothing(mutants, small):
    (small / "tests" / "test_sums.py").write_text("def test_add():\n    assert False\n")
    with pytest.raises(mutants.StaleFault, match="Expected the tests to pass without a fault"):
        mutants.try_all([fault(mutants, "b")], small, mutants.Console(quiet=True))


def test_unknown_names_are_refused(mutants, capsys):
    assert mutants.main(["--only", "no-such-fault"]) == 2
    assert "Expected names among" in capsys.readouterr().err
