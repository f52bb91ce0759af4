import pickle

import pytest

from fairsmooth.exceptions import InputError
from fairsmooth.experiments import Selection, experiments, jobs_of, load_method, profile

EXPERIMENTS = {experiment.name: experiment for experiment in experiments()}
MAJORITY = """
import numpy as np


class Majority:
    def fit(self, X, y, *, sensitive_features):
        self.share_ = float(np.mean(y))
        return self

    def predict_proba(self, X):
        return np.tile([1 - self.share_, self.share_], (len(X), 1))

    def predict(self, X):
        return np.full(len(X), int(self.share_ > 0.5))
"""


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "mine.py"
    path.write_text(MAJORITY)
    return path


def test_the_class_is_built_here_and_in_another_process(file):
    method = load_method(f"{file}:Majority")
    again = pickle.loads(pickle.dumps(method))  # noqa: S301
    for each in (method, again):
        model = each.build(each.grid[0], seed=3, quick=True).fit(
            [[0.0], [1.0]], [1, 1], sensitive_features=["a", "b"]
        )
        assert model.predict([[0.0]]).tolist() == [1]


def test_the_key_carries_the_content_and_not_the_place(file, tmp_path):
    first = load_method(f"{file}:Majority")
    moved = tmp_path / "elsewhere" / "other.py"
    moved.parent.mkdir()
    moved.write_text(MAJORITY)
    assert load_method(f"{moved}:Majority").name == first.name
    file.write_text(MAJORITY + "\n# changed\n")
    second = load_method(f"{file}:Majority")
    assert second.name != first.name
    jobs = [
        jobs_of([EXPERIMENTS["table1"]], profile("smoke"), Selection(("arl",), (), (method,)))
        for method in (first, second)
    ]
    keys = [{job.key for job in each if job.contender != "arl"} for each in jobs]
    assert len(keys[0]) == len(keys[1]) == 4
    assert not keys[0] & keys[1]
    # The file decides what is run, not which random numbers are drawn.
    seeds = [{job.seed for job in each} for each in jobs]
    assert seeds[0] == seeds[1]


def test_it_takes_part_where_all_methods_do(file):
    outside = Selection(outside=(load_method(f"{file}:Majority"),))
    for name, experiment in EXPERIMENTS.items():
        joined = any(
            "@" in job.contender for job in jobs_of([experiment], profile("smoke"), outside)
        )
        assert joined == (name in {"table1", "table4", "figure1", "figure2", "figure4"})


def test_candidates_come_from_its_own_declaration(file):
    file.write_text(
        MAJORITY.replace("class Majority:", "class Majority:\n    def __init__(self, bias=0):\n"
                         "        self.bias = bias\n")
        + "\nfrom fairsmooth.baselines import Method\n"
        'METHODS = (Method("m", "Majority rule", Majority, "us", "nothing", '
        'grid=({"bias": 1}, {"bias": 2})),)\n'
    )  # fmt: skip
    method = load_method(f"{file}:Majority")
    assert method.label == "Majority rule"
    assert [method.build(each, seed=0, quick=False).bias for each in method.grid] == [1, 2]


def test_a_file_that_changes_during_a_run_is_refused(file):
    method = load_method(f"{file}:Majority")
    file.write_text(MAJORITY + "\n\n")
    with pytest.raises(InputError, match="as it was when the run began"):
        method.build({}, seed=0, quick=False)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("class Majority", "class Minority", "to define a class 'Majority', found none"),
        ("def predict_proba", "def scores", "to have a method 'predict_proba', found none"),
        ("X, y, *, sensitive_features", "X, y", r"fit\(X, y, sensitive_features=...\), got fit"),
        ("import numpy", "import nothing_at_all", "to run, got ModuleNotFoundError"),
        (
            "class Majority:",
            "class Majority:\n    def __init__(self, depth):\n        pass\n",
            "without arguments, got a constructor that requires depth",
        ),
    ],
)
def test_what_is_missing_is_named(file, old, new, message):
    file.write_text(MAJORITY.replace(old, new))
    with pytest.raises(InputError, match=message):
        load_method(f"{file}:Majority")


@pytest.mark.parametrize(
    ("place", "message"),
    [
        ("mine.py", "Expected method as path/file.py:Class, got 'mine.py'"),
        (
            "nowhere.py:Majority",
            "Expected a Python file with the method, found none at 'nowhere.py'",
        ),
        ("mine.py:not a name", "Expected method as path/file.py:Class"),
    ],
)
def test_places_that_are_none(place, message):
    with pytest.raises(InputError, match=message):
        load_method(place)
