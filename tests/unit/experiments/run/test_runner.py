import json
from collections import Counter
from dataclasses import replace

import pytest

from fairsmooth.baselines import method
from fairsmooth.exceptions import InputError
from fairsmooth.experiments import (
    Selection,
    Store,
    experiments,
    profile,
    rows_of,
    run_experiments,
)
from fairsmooth.experiments.run import field, fit, runner, stale
from fairsmooth.experiments.run.draws import time_draws
from fairsmooth.experiments.run.job import Job
from fairsmooth.experiments.run.progress import TimeLeft, class_of
from fairsmooth.experiments.run.work import work

EXPERIMENTS = {experiment.name: experiment for experiment in experiments()}
TINY = replace(profile("smoke"), max_rows=400)
SELECTION = Selection(("fairsmooth", "unconstrained"), ("compas-sex", "aif360"))
# What a second run may change, and nothing else.
TIMES = ["seconds"]


@pytest.fixture
def table1(tmp_path):
    return EXPERIMENTS["table1"], Store(tmp_path)


def test_records_say_what_was_run(table1):
    experiment, store = table1
    run_experiments([experiment], TINY, store, selection=SELECTION)
    records = [json.loads(line) for line in store.path.read_text().splitlines()]
    assert {record["status"] for record in records} == {"done"}
    for record in records:
        assert record["versions"].keys() >= {"fairsmooth", "torch", "python"}
        assert record["seconds"] > 0
        assert 0 <= record["measured"]["accuracy"] <= 1
        assert record["partitions"].keys() == {"0.05", "0.1", "0.15", "0.3", "0.4"}


def test_equal_runs_give_equal_numbers(table1, tmp_path):
    experiment, store = table1
    other = Store(tmp_path / "other")
    for each in (store, other):
        run_experiments([experiment], TINY, each, selection=SELECTION)
    first, second = (rows_of(experiment, TINY, each, SELECTION) for each in (store, other))
    assert first.drop(columns=TIMES).equals(second.drop(columns=TIMES))


def test_nothing_is_repeated(table1, monkeypatch):
    experiment, store = table1
    run_experiments([experiment], TINY, store, selection=SELECTION)
    monkeypatch.setattr(runner, "work", None)
    states = []
    run_experiments([experiment], TINY, store, selection=SELECTION, report=states.append)
    assert [(state.done, state.total) for state in states] == [(2, 2)]


def tuned(experiment, budget, store):
    """Return the rows whose parameters were chosen, by method."""
    rows = rows_of(experiment, budget, store, SELECTION)
    return rows[rows["track"] == "tuned"].set_index("method")


def out_of_paper(**_):
    raise ValueError("out of  paper")


def failing():
    """Return every method, of which all but FairSmooth fail."""
    return tuple(
        each if each.name == "fairsmooth" else replace(each, estimator=out_of_paper)
        for each in field.everyone()
    )


def test_a_method_that_fails_leaves_a_row_with_its_reason(table1, monkeypatch):
    experiment, store = table1
    monkeypatch.setattr(stale, "everyone", failing)
    states = []
    run_experiments([experiment], TINY, store, selection=SELECTION, report=states.append)
    rows = tuned(experiment, TINY, store)
    assert rows.loc["unconstrained", "status"] == "failed"
    assert rows.loc["unconstrained", "reason"] == "ValueError: out of paper"
    assert rows.loc["fairsmooth", "status"] == "done"
    assert states[-1].failed == 1


def test_fits_wait_for_candidates_and_fail_with_them(table1, monkeypatch):
    experiment, store = table1
    budget = replace(TINY, n_candidates=2)
    monkeypatch.setattr(stale, "everyone", failing)
    run_experiments([experiment], budget, store, selection=SELECTION)
    rows = tuned(experiment, budget, store)
    assert "every candidate failed: ValueError: out of paper" in rows.loc["unconstrained", "reason"]
    assert rows.loc["fairsmooth", "status"] == "done"
    assert "sigma" in rows.loc["fairsmooth", "parameters"]


def test_what_was_chosen_is_trained_once_for_all_who_ask(table1):
    experiment, store = table1
    budget = replace(TINY, n_candidates=2)
    run_experiments([experiment], budget, store, selection=SELECTION)
    records = [json.loads(line) for line in store.path.read_text().splitlines()]
    rows = rows_of(experiment, budget, store, SELECTION)
    # Two methods, published and tuned; where the first candidate was chosen both are one fit.
    assert len(rows) == 4
    fits = [record for record in records if record["job"]["kind"] == "fit"]
    assert len(fits) == len(rows.drop_duplicates(["method", "parameters"]))
    assert sum(record["job"]["kind"] == "candidate" for record in records) == 4


def test_choices_never_see_a_test_row(monkeypatch):
    seen = {}
    original = fit.training_and_held_out

    def spy(job):
        seen["parts"] = original(job)
        return seen["parts"]

    monkeypatch.setattr(fit, "training_and_held_out", spy)
    job = Job("candidate", "compas-sex", "aif360", 0, "unconstrained", max_rows=900)
    assert work(job, method("unconstrained"))["status"] == "done"
    train, _ = fit.training_and_test(job)
    assert sum(len(part) for part in seen["parts"]) == len(train) == 630


def test_progress_is_told_with_time_left(table1):
    experiment, store = table1
    states = []
    run_experiments([experiment], TINY, store, selection=SELECTION, report=states.append)
    assert [state.done for state in states] == [0, 1, 2]
    assert states[0].seconds_left is None
    assert states[1].seconds_left > 0
    assert states[-1].seconds_left == 0
    assert "compas-sex aif360" in states[-1].label


def test_time_left_knows_slow_methods():
    left = TimeLeft(n_jobs=2)
    slow, fast = (Job("fit", "adult-sex", "binned", 0, name) for name in ("fcrl", "dlr"))
    assert left.estimate(Counter()) is None
    left.learn(slow, 40.0)
    left.learn(fast, 2.0)
    assert left.estimate({class_of(slow): 2, class_of(fast): 1}) == pytest.approx(41.0)
    assert left.estimate({class_of(replace(fast, contender="arl")): 1}) == pytest.approx(10.5)


def test_draws_err_less_the_more_there_are():
    extra = (("n_draws", (100, 10_000)), ("rows", 30))
    job = Job("draws", "compas-race", "aif360", max_rows=600, extra=extra)
    found = time_draws(job, {"sigma": 1.0, "max_iter": 20})["points"]
    assert found[1]["mean_error"] < found[0]["mean_error"] / 3
    # Five standard errors of a mean of values in [0, 1].
    assert found[1]["largest_error"] < 5 * 0.5 / 100


def test_number_of_processes_must_be_positive(table1):
    experiment, store = table1
    with pytest.raises(InputError, match="Expected n_jobs > 0, got n_jobs=0"):
        run_experiments([experiment], TINY, store, n_jobs=0)
