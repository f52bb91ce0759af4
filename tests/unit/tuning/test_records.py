"""A file of trials belongs to one search, survives a kill, and is used by one at a time."""

import json

import numpy as np
import pytest

from fairsmooth.exceptions import InputError
from fairsmooth.tuning import SearchLimits, tune
from fairsmooth.tuning.judged import FoldCounts
from fairsmooth.tuning.records import RecordsFile, TrialRecord

FOLD = FoldCounts(np.array([[3, 2], [4, 1]]), np.array([[1, 2], [0, 1]]), 0.5)


def record(number, **facts):
    usual = {"params": {"sigma": 1.0}, "seed": 3, "folds": (FOLD,), "stopped": None}
    return TrialRecord(number, **usual | {"converged": True, "seconds": 0.1} | facts)


class Stop(Exception):
    """What a test throws in the middle of a search."""


def stop_at(count):
    def callback(finished):
        if finished == count:
            raise Stop

    return callback


@pytest.fixture
def run(plain_space):
    def search(data, **options):
        options = {"n_trials": 18, "n_folds": 2, "space": plain_space, **options}
        return tune(data.X, data.y, sensitive_features=data.sensitive_features, **options)

    return search


def trials_of(tuned):
    return tuned.trials.drop(columns=["seconds", "parameters"]).to_dict("list"), tuned.parameters


@pytest.fixture(scope="module")
def uninterrupted(small, plain_space):
    options = {"n_trials": 18, "n_folds": 2, "space": plain_space}
    return trials_of(tune(small.X, small.y, sensitive_features=small.sensitive_features, **options))


@pytest.mark.parametrize("place", [3, 17])
def test_a_resumed_search_equals_an_uninterrupted_one(run, small, tmp_path, uninterrupted, place):
    with pytest.raises(Stop):
        run(small, storage=tmp_path / "t", callback=stop_at(place))
    seen = []
    resumed = run(small, storage=tmp_path / "t", callback=seen.append)
    assert seen == list(range(place + 1, 19))
    assert trials_of(resumed) == uninterrupted


def test_the_number_of_processes_does_not_matter(run, small, uninterrupted):
    assert trials_of(run(small, n_jobs=2)) == uninterrupted


def test_more_trials_go_on_from_fewer(run, small, tmp_path, uninterrupted):
    run(small, storage=tmp_path / "t", n_trials=10)
    assert trials_of(run(small, storage=tmp_path / "t")) == uninterrupted


@pytest.mark.parametrize("change", ["rows", "limits", "seed", "folds", "aim"])
def test_a_file_of_another_search_is_refused(run, small, tmp_path, plain_space, change):
    run(small, storage=tmp_path / "t", n_trials=1)
    options = {
        "rows": {},
        "limits": {"limits": SearchLimits(max_dp=0.1)},
        "seed": {"random_state": 1},
        "folds": {"n_folds": 3},
        "aim": {"aim": 0.8},
    }[change]
    X = np.asarray(small.X, dtype=float).copy()
    X[0, 0] += change == "rows"
    before = (tmp_path / "t").read_bytes()
    with pytest.raises(InputError, match="got those of another one"):
        tune(
            X, small.y, sensitive_features=small.sensitive_features, n_trials=1,
            storage=tmp_path / "t", **{"n_folds": 2, "space": plain_space, **options},
        )  # fmt: skip
    assert (tmp_path / "t").read_bytes() == before


@pytest.mark.parametrize(
    "line",
    [
        b"nonsense",
        b'{"number": 0}',
        json.dumps(record(-1).to_dict()).encode(),
        json.dumps({**record(0).to_dict(), "params": 3}).encode(),
        json.dumps({**record(0).to_dict(), "folds": []}).encode(),
        json.dumps({**record(0).to_dict(), "stopped": 3}).encode(),
        json.dumps({**record(0).to_dict(), "converged": 1}).encode(),
        json.dumps({**record(0).to_dict(), "folds": [{"rows": 1}]}).encode(),
        b"\xff\xfe",
        b"[" * 100_000,
    ],
)
def test_a_damaged_file_is_refused(tmp_path, line):
    with RecordsFile.of_search(tmp_path / "t", "digest"):
        pass
    with (tmp_path / "t").open("ab") as file:
        file.write(line + b"\n")
    with (
        pytest.raises(InputError, match="got a damaged file"),
        RecordsFile.of_search(tmp_path / "t", "digest"),
    ):
        pass


def test_numbers_that_are_not_finite_are_damage(tmp_path):
    line = record(0).to_dict()
    line["folds"][0]["epsilon"] = float("inf")
    (tmp_path / "t").write_text(
        json.dumps({"format": 2, "search": "d"}) + "\n" + json.dumps(line) + "\n"
    )
    with pytest.raises(InputError, match="damaged"), RecordsFile.of_search(tmp_path / "t", "d"):
        pass


def test_trials_of_the_first_format_belong_to_another_search(tmp_path):
    (tmp_path / "t").write_text(json.dumps({"format": 1, "search": "d"}) + "\n")
    with (
        pytest.raises(InputError, match="those of another one"),
        RecordsFile.of_search(tmp_path / "t", "d"),
    ):
        pass


def test_a_line_cut_short_is_dropped(tmp_path):
    with RecordsFile.of_search(tmp_path / "t", "digest") as file:
        file.append(record(0))
    with (tmp_path / "t").open("ab") as file:
        file.write(b'{"number": 1, "par')
    with RecordsFile.of_search(tmp_path / "t", "digest") as file:
        assert [found.number for found in file.records] == [0]
        file.append(record(1, params={"sigma": 2.0}, stopped="it lost"))
    with RecordsFile.of_search(tmp_path / "t", "digest") as file:
        assert [found.params["sigma"] for found in file.records] == [1.0, 2.0]
        assert [found.finished for found in file.records] == [True, False]
        assert file.records[0].to_dict() == record(0).to_dict()


def test_two_at_once_are_refused(tmp_path):
    with (
        RecordsFile.of_search(tmp_path / "t", "digest"),
        pytest.raises(InputError, match="another search is writing"),
        RecordsFile.of_search(tmp_path / "t", "digest"),
    ):
        pass


def test_a_file_that_cannot_be_opened_is_one_line(tmp_path):
    with (
        pytest.raises(InputError, match="Expected to be able to write"),
        RecordsFile.of_search(tmp_path, "digest"),
    ):
        pass
