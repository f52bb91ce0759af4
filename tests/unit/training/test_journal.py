"""A journal gives back what was kept, in order, and refuses what does not fit."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from safetensors.numpy import save

from fairsmooth.core.rows import CodedRows, DenseRows
from fairsmooth.exceptions import InputError
from fairsmooth.training import epochs
from fairsmooth.training.epochs import Epochs
from fairsmooth.training.grouped import GroupedRows
from fairsmooth.training.journal import (
    Journal,
    current,
    digest_of,
    kept_in,
    question_of,
    remove,
)
from fairsmooth.training.journalled import JournalledRows, journalled
from fairsmooth.training.linear_pass import LinearPass
from fairsmooth.training.steps import STEPS

FACTS = {"table": "abc", "sigma": 1.0}
SHAPES = {"a": (2,)}


def begun(folder, *entries):
    journal = Journal.open(folder, FACTS, resume=False)
    for question, array in entries:
        journal.keep(question, {"a": np.asarray(array, dtype=float)})
    return journal


def again(folder, **changes):
    return Journal.open(folder, {**FACTS, **changes}, resume=True)


def test_answers_come_back_in_order_and_then_there_are_none(tmp_path):
    begun(tmp_path / "j", ("x", [1, 2]), ("y", [3, 4]))
    journal = again(tmp_path / "j")
    assert journal.n_known == 2
    np.testing.assert_array_equal(journal.recall("x", SHAPES)["a"], [1.0, 2.0])
    np.testing.assert_array_equal(journal.recall("y", SHAPES)["a"], [3.0, 4.0])
    assert journal.recall("z", SHAPES) is None
    journal.keep("z", {"a": np.zeros(2)})
    assert again(tmp_path / "j").n_known == 3


def test_another_course_is_taken_from_where_it_differs(tmp_path):
    begun(tmp_path / "j", ("x", [1, 2]), ("y", [3, 4]), ("z", [5, 6]))
    journal = again(tmp_path / "j")
    assert journal.recall("x", SHAPES) is not None
    assert journal.recall("other", SHAPES) is None
    journal.keep("other", {"a": np.zeros(2)})
    assert journal.recall("z", SHAPES) is None


def test_the_last_of_several_states_is_taken_up(tmp_path):
    begun(tmp_path / "j", ("x", [1, 2]), ("x", [3, 4]), ("y", [5, 6]))
    journal = again(tmp_path / "j")
    np.testing.assert_array_equal(journal.latest("x")["a"], [3.0, 4.0])
    assert journal.latest("x") is None
    np.testing.assert_array_equal(journal.latest("y")["a"], [5.0, 6.0])


def test_a_single_number_comes_back_as_one(tmp_path):
    journal = begun(tmp_path / "j")
    journal.keep("x", {"a": np.asarray(3.0), "b": np.ones((2, 3)).T})
    found = again(tmp_path / "j").latest("x")
    assert found["a"].shape == ()
    np.testing.assert_array_equal(found["b"], np.ones((3, 2)))


def test_questions_are_told_apart_to_the_last_bit():
    array = np.array([1.0, 2.0])
    assert question_of("a", array) == question_of("a", array.copy())
    assert question_of("a", array) != question_of("b", array)
    assert question_of("a", array) != question_of("a", np.nextafter(array, 3.0))


@pytest.mark.parametrize("change", [{"table": "other"}, {"sigma": 0.5}, {"new": 1}])
def test_other_facts_are_refused(tmp_path, change):
    begun(tmp_path / "j")
    with pytest.raises(InputError, match=f"got one with another {next(iter(change))}"):
        again(tmp_path / "j", **change)


@pytest.mark.parametrize(
    ("arrays", "run", "message"),
    [
        ({"a": np.zeros(3)}, None, r"arrays \{'a': \(3,\)\} in entry 0"),
        ({"b": np.zeros(2)}, None, "in entry 0"),
        ({}, None, "in entry 0"),
        ({"a": np.zeros(2, dtype=np.float32)}, None, "other than float64"),
        ({"a": np.array([0.0, np.nan])}, None, "not finite"),
        ({"a": np.zeros(2)}, "0", "of another training"),
    ],
)
def test_entries_that_do_not_fit_are_refused(tmp_path, arrays, run, message):
    journal = begun(tmp_path / "j", ("x", [1, 2]))
    about = {"run": run or journal.run, "question": "x", "numbers": digest_of(arrays)}
    (tmp_path / "j" / "000000.safetensors").write_bytes(save(arrays, about))
    with pytest.raises(InputError, match=message):
        again(tmp_path / "j").recall("x", SHAPES)


def test_a_bit_that_flipped_is_refused(tmp_path):
    begun(tmp_path / "j", ("x", [1, 2]))
    path = tmp_path / "j" / "000000.safetensors"
    contents = path.read_bytes()
    path.write_bytes(contents[:-3] + bytes([contents[-3] ^ 64]) + contents[-2:])
    with pytest.raises(InputError, match=r"000000\.safetensors with numbers that were changed"):
        again(tmp_path / "j").recall("x", SHAPES)


@pytest.mark.parametrize("contents", ["", "[]", "{", "x" * 10])
def test_facts_that_are_none_are_refused(tmp_path, contents):
    begun(tmp_path / "j")
    (tmp_path / "j" / "training.json").write_text(contents)
    with pytest.raises(InputError, match=r"training\.json that cannot be read"):
        again(tmp_path / "j")


def test_only_a_journal_is_removed(tmp_path):
    remove(tmp_path / "nothing")
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "diary").touch()
    (tmp_path / "file").touch()
    for mine in ("mine", "file"):
        with pytest.raises(InputError, match="got something else"):
            remove(tmp_path / mine)
    begun(tmp_path / "j", ("x", [1, 2]))
    remove(tmp_path / "j")
    assert not (tmp_path / "j").exists()
    begun(tmp_path / "j", ("x", [1, 2]))
    (tmp_path / "j" / "diary").touch()
    remove(tmp_path / "j")
    assert [file.name for file in (tmp_path / "j").iterdir()] == ["diary"]


def test_what_a_training_leaves_that_is_killed_as_it_begins_is_no_journal(tmp_path):
    for resume in (True, False):
        (tmp_path / "j").mkdir()
        (tmp_path / "j" / ".training.json.x1").touch()
        assert Journal.open(tmp_path / "j", FACTS, resume=resume).n_known == 0
        remove(tmp_path / "j")
        # A removal that was cut short.
        begun(tmp_path / "j", ("x", [1, 2]))
        (tmp_path / "j" / "training.json").unlink()
        remove(tmp_path / "j")
        assert not (tmp_path / "j").exists()


def test_a_journal_is_current_in_its_block_only(tmp_path):
    assert current() is None
    with kept_in(begun(tmp_path / "j")) as _:
        assert current() is not None
    assert current() is None


def state_of(width):
    parameters = torch.zeros(2, width, requires_grad=True)
    return Epochs.of(parameters, STEPS["adam"](parameters, 1e-3))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"parameters": np.zeros((2, 4))}, "an epoch of another network"),
        ({"stopping": np.zeros(3)}, "an epoch of another network"),
        ({"means": np.zeros(3)}, "an epoch without its history"),
        ({"state exp_avg": np.zeros((3, 2))}, "an epoch of another optimiser"),
    ],
)
def test_epochs_that_do_not_fit_are_refused(tmp_path, change, message):
    journal = begun(tmp_path / "j")
    start = torch.zeros(2, 3)
    with kept_in(journal):
        state_of(3).keep("adam", start)
    journal = again(tmp_path / "j")
    arrays, _ = journal._read(0)
    arrays |= {"means": np.zeros((0, 4)), **change}
    about = {"question": epochs._question("adam", start), "numbers": digest_of(arrays)}
    path = tmp_path / "j" / "000000.safetensors"
    path.write_bytes(save(arrays, {"run": journal.run, **about}))
    with kept_in(journal), pytest.raises(InputError, match=message):
        state_of(3).recall("adam", start)


@pytest.mark.parametrize("n_rows", [89, 90])
def test_passes_over_few_coded_rows_are_made_again_and_not_kept(tmp_path, n_rows):
    rows = CodedRows(
        np.zeros((n_rows, 1), dtype=np.uint8),
        np.array([0]),
        np.arange(5),
        np.empty((n_rows, 0)),
        np.empty(0, dtype=int),
        tuple("abcde"),
    )
    halves = np.split(np.arange(n_rows), [30, 60])
    data = GroupedRows.of(rows, np.zeros(n_rows, dtype=int), halves)
    found = LinearPass(data, 1.0, "logistic")
    assert journalled(found, data) is found
    with kept_in(Journal.open(tmp_path / "j", FACTS, resume=False)):
        # Three groups of six parameters each.
        assert (journalled(found, data) is found) is (n_rows == 89)
        dense = replace(data, rows=DenseRows(rows.toarray()))
        assert isinstance(journalled(found, dense), JournalledRows)


def test_some_groups_are_kept_in_the_same_journal(tmp_path):
    random = np.random.default_rng(0)
    by_group = np.split(np.arange(40), [15, 30])
    data = GroupedRows.of(random.normal(size=(40, 2)), random.integers(0, 2, 40), by_group)
    W = random.normal(size=(3, 3))

    def sums():
        found = journalled(LinearPass(data, 1.0, "logistic"), data)
        some = found.of_groups(np.array([0, 2]))
        return found.contribution(W), some.contribution(W[[0, 2]])

    with kept_in(Journal.open(tmp_path / "j", FACTS, resume=False)):
        whole, some = sums()
    np.testing.assert_array_equal(some.gradient, whole.gradient[[0, 2]])
    resumed = Journal.open(tmp_path / "j", FACTS, resume=True)
    assert resumed.n_known == 2
    with kept_in(resumed):
        _, again = sums()
    assert not resumed.at_hand
    np.testing.assert_array_equal(again.gradient, some.gradient)
