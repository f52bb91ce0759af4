"""A file of trials belongs to one search, survives a kill, and is used by one at a time."""

import json

import numpy as np
import pytest
from fairsmooth.tuning.trials import OBJECTIVES

from fairsmooth.datasets import make_biased
from fairsmooth.exceptions import InputError
from fairsmooth.tuning import SearchLimits as Limits
from fairsmooth.tuning import tune
from fairsmooth.tuning.records import RecordsFile, TrialRecord

MEASURED = dict.fromkeys(OBJECTIVES, 0.5)


class Stop(Exception):
    """What a test throws in the middle of a search."""


def stop_at(count):
    def callback(finished):
        if finished == count:
            raise Stop

    return callback


def run(data, **options):
    return tune(
        data.X, data.y, sensitive_features=data.sensitive_features, **{"n_trials": 18, **options}
    )


def trials_of(tuned):
    return tuned.trials.drop(columns=["seconds", "parameters"]).to_dict("list"), tuned.parameters


@pytest.fixture(scope="module")
def small():
    return make_biased(n_samples=160, n_features=2, n_groups=2, random_state=0)


@pytest.fixture(scope="module")
def uninterrupted(small):
    return trials_of(run(small))


@pytest.mark.parametrize("place", [3, 17])
def test_a_resumed_search_equals_an_uninterrupted_one(small, tmp_path, uninterrupted, place):
    with pytest.raises(Stop):
        run(small, storage=tmp_path / "t", callback=stop_at(place))
    seen = []
    resumed = run(small, storage=tmp_path / "t", callback=seen.append)
    assert seen == list(range(place + 1, 19))
    assert trials_of(resumed) == uninterrupted


def test_the_number_of_processes_does_not_matter(small, uninterrupted):
    assert trials_of(run(small, n_jobs=2)) == uninterrupted


def test_more_trials_go_on_from_fewer(small, tmp_path, uninterrupted):
    run(small, storage=tmp_path / "t", n_trials=10)
    assert trials_of(run(small, storage=tmp_path / "t")) == uninterrupted


@pytest.mark.parametrize("change", ["rows", "limits", "seed"])
def test_a_file_of_another_search_is_refused(small, tmp_path, change):
    run(small, storage=tmp_path / "t", n_trials=1)
    options = {
        "rows": {},
        "limits": {"limits": Limits(max_dp=0.1)},
        "seed": {"random_state": 1},
    }[change]
    X = np.asarray(small.X, dtype=float).copy()
    X[0, 0] += change == "rows"
    before = (tmp_path / "t").read_bytes()
    with pytest.raises(InputError, match="got those of another one"):
        tune(
            X, small.y, sensitive_features=small.sensitive_features, n_trials=1,
            storage=tmp_path / "t", **options,
        )  # fmt: skip
    assert (tmp_path / "t").read_bytes() == before


@pytest.mark.parametrize(
    "line",
    [
        b"nonsense\n",
        b'{"number": 0}\n',
        b'{"number": -1, "params": {}, "measured": null, "seconds": 0}\n',
        b'{"number": 0, "params": 3, "measured": null, "seconds": 0}\n',
        b'{"number": 0, "params": {}, "measured": {"accuracy": NaN}, "seconds": 0}\n',
        b"\xff\xfe\n",
        b"[" * 100_000 + b"\n",
    ],
)
def test_a_damaged_file_is_refused(tmp_path, line):
    with RecordsFile.of_search(tmp_path / "t", "digest"):
        pass
    with (tmp_path / "t").open("ab") as file:
        file.write(line)
    with (
        pytest.raises(InputError, match="got a damaged file"),
        RecordsFile.of_search(tmp_path / "t", "digest"),
    ):
        pass


def test_numbers_that_are_not_finite_are_damage(tmp_path):
    measured = {**MEASURED, "epsilon": float("inf")}
    line = {"number": 0, "params": {}, "measured": measured, "seconds": 0}
    (tmp_path / "t").write_text(
        json.dumps({"format": 1, "search": "d"}) + "\n" + json.dumps(line) + "\n"
    )
    with pytest.raises(InputError, match="damaged"), RecordsFile.of_search(tmp_path / "t", "d"):
        pass


def test_a_line_cut_short_is_dropped(tmp_path):
    with RecordsFile.of_search(tmp_path / "t", "digest") as file:
        file.append(TrialRecord(0, {"sigma": 1.0}, MEASURED, 0.1))
    with (tmp_path / "t").open("ab") as file:
        file.write(b'{"number": 1, "par')
    with RecordsFile.of_search(tmp_path / "t", "digest") as file:
        assert [record.number for record in file.records] == [0]
        file.append(TrialRecord(1, {"sigma": 2.0}, None, 0.1))
    with RecordsFile.of_search(tmp_path / "t", "digest") as file:
        assert [record.params["sigma"] for record in file.records] == [1.0, 2.0]


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


@pytest.mark.parametrize("name", ["max_dp", "max_eo", "max_epsilon"])
@pytest.mark.parametrize("value", [-1.0, float("nan"), float("inf")])
def test_limits_are_numbers_of_at_least_zero(name, value):
    with pytest.raises(InputError, match=f"Expected {name} >= 0"):
        Limits(**{name: value})
