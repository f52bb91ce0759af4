"""Readings of the paper: the printed schedule has its steps, fewer rows give the same sums."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from fairsmooth.datasets import load_compas
from fairsmooth.estimator import FairSmoothClassifier
from fairsmooth.experiments import Selection, Store, experiment, profile, rows_of, run_experiments
from fairsmooth.experiments.beyond.readings import BATCH, COLUMNS, ITERATIONS, PAIRS, SCHEDULES
from fairsmooth.experiments.run.readings import distinct, in_steps
from fairsmooth.reporting.readings_table import readings_table
from fairsmooth.training.stochastic import Schedule


@pytest.fixture(scope="module")
def data():
    return load_compas("aif360-blind", sensitive="sex")


def test_the_third_columns_are_the_binary_ones_without_sex_and_race(data):
    whole = load_compas("aif360", sensitive="sex")
    assert set(whole.X) - set(data.X) == {"sex", "race"}
    assert data.X.equals(whole.X[data.X.columns])


def test_the_grid_has_42_pairs():
    assert len(set(PAIRS)) == 42


def test_one_pass_over_the_repeated_rows_is_the_printed_number_of_steps(data):
    rows = in_steps(data, 0)
    schedule = Schedule(1, BATCH, 0.05, 0)
    assert schedule.steps(len(rows)) == ITERATIONS
    # Every row is there, none more than once oftener than another.
    counts = rows.X.index.value_counts() if rows.X.index.has_duplicates else None
    repeats = ITERATIONS * BATCH / len(data)
    if counts is not None:
        assert counts.max() - counts.min() <= 1
        assert counts.max() == int(np.ceil(repeats))


def test_distinct_rows_with_weights_give_the_same_model(data):
    some = data.take(np.arange(1500))
    few, weights = distinct(some)
    assert len(few) < 300
    assert weights.sum() == len(some)
    models = [
        FairSmoothClassifier(free_reference=False, random_state=0).fit(
            rows.X, rows.y, sensitive_features=rows.sensitive_features, sample_weight=of
        )
        for rows, of in ((some, None), (few, weights))
    ]
    first, second = (model.group_parameters_ for model in models)
    np.testing.assert_allclose(np.asarray(first), np.asarray(second), atol=2e-3)


def test_rows_and_table_of_a_small_run(tmp_path):
    readings, store = experiment("readings"), Store(tmp_path)
    budget = replace(profile("smoke"), max_rows=300)
    selection = Selection((), ("compas",))
    run_experiments([readings], budget, store, selection=selection)
    rows = rows_of(readings, budget, store, selection)
    assert set(rows["encoding"]) == set(COLUMNS)
    assert set(rows["status"]) == {"done"}
    # Every job scores one pair by draws too: five standard errors of 1,000 of them.
    checked = rows[rows["sampled_largest_error"].notna()]
    assert len(checked) == 2 * len(COLUMNS) * len(SCHEDULES)
    assert (checked["sampled_largest_error"] > 0).all()
    assert (checked["sampled_largest_error"] < 5 * 0.5 / 1000**0.5).all()
    assert (checked["sampled_accuracy"] - checked["accuracy"]).abs().max() < 0.05
    # Two cases of four have no complete line.
    assert len(readings_table(readings, rows).rows) == 1
    whole = pd.concat([rows, rows.assign(case=rows["case"].str.replace("compas", "adult"))])
    table = readings_table(readings, whole)
    assert len(table.rows) == 1 + len(COLUMNS) * 3 * 2
    header = dict(zip(table.columns, table.rows[1], strict=True))
    away, together = (float(header[name].text) for name in ("mean deviation", "with one pair"))
    assert 0.0 < away <= together
