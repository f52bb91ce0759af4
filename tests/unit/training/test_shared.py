"""Rows that several ranks hold give the parameters of rows in one place."""

import numpy as np
import pandas as pd
import pytest
from tests.ranks_in_threads import run_ranks

from fairsmooth import FairSmoothClassifier
from fairsmooth.core.ranks import ALONE
from fairsmooth.core.rows import CodedRows, DenseRows
from fairsmooth.data.encoding import TableEncoder
from fairsmooth.data.groups import Groups
from fairsmooth.exceptions import InputError
from fairsmooth.training import linear_pass
from fairsmooth.training.example import Example

pytestmark = pytest.mark.numbers
N_ROWS, N_GROUPS = 900, 3


@pytest.fixture(scope="module")
def rows():
    draw = np.random.default_rng(0)
    X = draw.normal(size=(N_ROWS, 4))
    groups = draw.choice(N_GROUPS, N_ROWS, p=[0.6, 0.3, 0.1])
    y = (X @ [1.0, -1.0, 0.5, 0.0] + 0.4 * groups + draw.logistic(size=N_ROWS) > 0).astype(np.int64)
    return X, y, groups


def example_of(rows, ranks, share):
    X, y, groups = (part[share] for part in rows)
    X = X if isinstance(X, CodedRows) else DenseRows(X)
    return Example(X, y, Groups(("a", "b", "c"), groups), ranks=ranks)


def fitted(rows, cuts, **settings):
    """Train by as many ranks as there are pieces between the cuts; return all classifiers."""
    shares = [slice(*ends) for ends in zip([0, *cuts], [*cuts, N_ROWS], strict=True)]

    def one(ranks):
        classifier = FairSmoothClassifier(random_state=0, **settings)
        return classifier.fit_share(example_of(rows, ranks, shares[ranks.rank]))

    return run_ranks(len(shares), one)


def alone(rows, **settings):
    classifier = FairSmoothClassifier(random_state=0, **settings)
    return classifier.fit_share(example_of(rows, ALONE, slice(None)))


def assert_equal(found, expected, tolerance):
    for each in found:
        difference = np.abs(each.group_parameters_ - expected.group_parameters_).max()
        free = np.abs(each.free_group_parameters_ - expected.free_group_parameters_).max()
        assert max(difference, free) <= tolerance
        assert each.certificate_.epsilon == pytest.approx(expected.certificate_.epsilon, rel=1e-6)
        assert np.array_equal(each.group_parameters_, found[0].group_parameters_)
        assert len(each.history_) == len(expected.history_)


@pytest.mark.parametrize("cuts", [[400], [100, 850], [0, 500]])
@pytest.mark.parametrize("link", ["logistic", "probit"])
def test_lbfgs_of_several_ranks_is_that_of_one(rows, cuts, link):
    how = {"link": link, "group_weights": "share"}
    assert_equal(fitted(rows, cuts, **how), alone(rows, **how), 1e-9)


def test_the_sample_for_the_curvature_is_that_of_all_rows(rows, monkeypatch):
    monkeypatch.setattr(linear_pass, "CURVATURE_ROWS", 100)
    assert_equal(fitted(rows, [300, 420]), alone(rows), 1e-9)


@pytest.mark.parametrize("cuts", [[0, 500], [900], [0, 0, 900]])
def test_coded_rows_of_several_ranks_some_of_which_have_none(rows, cuts):
    frame = pd.DataFrame(np.digitize(rows[0][:, :2], [-0.5, 0.5]), columns=["a", "b"]).astype(str)
    coded = (TableEncoder.learn(frame).encode(frame), *rows[1:])
    assert_equal(fitted(coded, cuts), alone(coded), 1e-9)


def test_a_rank_for_every_group(rows):
    order = np.argsort(rows[2], kind="stable")
    by_group = tuple(part[order] for part in rows)
    cuts = np.cumsum(np.bincount(rows[2]))[:-1].tolist()
    assert_equal(fitted(by_group, cuts), alone(by_group), 1e-9)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("solver", ["adam", "sgd"])
@pytest.mark.parametrize(
    "network", [{}, {"hidden_layer_sizes": (6,)}, {"hidden_layer_sizes": (4, 3)}]
)
def test_minibatches_of_several_ranks_are_those_of_one(rows, solver, network):
    how = {"solver": solver, "max_iter": 4, "batch_size": 120, **network}
    assert_equal(fitted(rows, [200, 210], **how), alone(rows, **how), 1e-6)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_features_that_a_batch_lacks_move_alike_on_several_ranks(rows):
    """Then tie and decay alone are the gradient, and Adam divides by what they are rounded to."""
    levels = np.digitize(rows[0], np.linspace(-2.0, 2.0, 12))
    X = (levels[:, :, None] == np.arange(13)).reshape(N_ROWS, -1).astype(np.float64)
    how = {"hidden_layer_sizes": (6,), "max_iter": 4, "batch_size": 120}
    indicators = (X, *rows[1:])
    assert_equal(fitted(indicators, [200, 210], **how), alone(indicators, **how), 1e-6)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"parity": "demographic_parity", "parity_weight": 0.1}, "got parity"),
        ({"calibrate": True}, "got calibrate=True"),
        ({"threshold": "accuracy"}, "got threshold='accuracy'"),
        ({"solver": "adam", "early_stopping": True}, "got early_stopping=True"),
        ({"solver": "lbfgs", "hidden_layer_sizes": (3,)}, "got solver='lbfgs' of a network"),
    ],
)
def test_what_is_no_sum_over_rows_is_refused(rows, settings, message):
    with pytest.raises(InputError, match=message):
        fitted(rows, [450], **settings)
