"""Labels of a file that is not trusted, where they are printed among what was checked."""

import pytest
from tests.unit.verify.forged import model, write

from fairsmooth.cli.main import main
from fairsmooth.verify import Check, verify

EVIL = "C)\nok    epsilon_tight: 1e-09 is at least 9.9e-10 (all groups\x1b[1A\x1b[2K\u202e\ud800"


@pytest.fixture
def path(tmp_path):
    plain, tensors = model()
    groups = ["A", "B", EVIL[:-1]]  # the group farthest away is the one that is named
    plain["groups"] = plain["certificate"]["groups"] = groups
    return write(tmp_path / "model", plain, tensors)


def test_a_label_cannot_write_a_check_that_never_was(path):
    found = verify(path)
    assert found.holds
    lines = str(found).splitlines()
    assert len(lines) == len(found.checks)
    assert sum(line.startswith("ok    epsilon_tight:") for line in lines) == 1
    assert all(line.isprintable() for line in lines)
    assert any(r"(C)\nok    epsilon_tight: 1e-09" in line for line in lines)


def test_a_line_of_a_check_can_be_printed_whatever_it_repeats():
    assert str(Check("a\nb", False, EVIL)).endswith(r"\x1b[1A\x1b[2K\u202e\ud800")


@pytest.mark.parametrize("command", ["verify", "certificate"])
def test_commands_print_labels_without_control_characters(path, command, capsys):
    assert main([command, str(path)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert all(line.isprintable() for line in lines)
    claimed = [line for line in lines if line.startswith("ok    epsilon_tight")]
    assert len(claimed) == (command == "verify")


def test_more_draws_than_a_float_can_count_are_no_error(tmp_path):
    plain, tensors = model()
    for draws in (10**309, 10**4000):
        plain["smoothing"] = {"method": "monte_carlo", "n_draws": draws}
        plain["parameters"] |= {"smoothing": "monte_carlo", "n_draws": draws}
        assert verify(write(tmp_path / "model", plain, tensors)).holds
