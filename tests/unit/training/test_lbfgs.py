"""When the tied solver is done: for every group, by what the group weighs."""

import numpy as np
import pytest

from fairsmooth import FairSmoothClassifier

SIZES = [6000, 6000, *[12] * 10]
EVEN = [900, 900, 900]


def rows_of(sizes, seed):
    draw = np.random.default_rng(seed)
    groups = np.repeat(np.arange(len(sizes)), sizes)
    X = draw.normal(size=(len(groups), 20))
    weights = draw.normal(size=20) + 0.5 * draw.normal(size=(len(sizes), 20))
    y = ((X * weights[groups]).sum(axis=1) + draw.logistic(size=len(groups)) > 0).astype(int)
    first = np.searchsorted(groups, np.arange(len(sizes)))
    y[first], y[first + 1] = 0, 1  # both labels in every group
    return X, y, groups


def fitted(rows, **options):
    X, y, groups = rows
    clf = FairSmoothClassifier(free_reference=False, random_state=0, **options)
    return clf.fit(X, y, sensitive_features=groups)


def losses(clf, rows):
    X, y, groups = rows
    found = np.empty(len(clf.groups_))
    for group in clf.groups_:
        of = groups == group
        scores = clf.predict_proba_group(X[of], group)
        found[group] = -np.log(scores[np.arange(of.sum()), y[of]]).mean()
    return found


@pytest.mark.parametrize("alpha", [1e-4, 0.25])
def test_groups_of_few_rows_are_done_too_where_they_weigh_little(alpha):
    """Judged on the whole objective, losses of 12 rows among 12,000 were off by up to .0012."""
    rows = rows_of(SIZES, seed=1)
    how = {"group_weights": "share", "alpha": alpha}
    exact = losses(fitted(rows, **how, tol=1e-9, max_iter=3000), rows)
    found = losses(fitted(rows, **how), rows)
    assert np.abs(found - exact).max() < 4e-5


def test_groups_of_one_size_are_done_when_they_were():
    """Shares of equal groups are weights of 1, and so is the goal."""
    rows = rows_of(EVEN, seed=0)
    equal, share = (fitted(rows, group_weights=kind) for kind in ("equal", "share"))
    assert equal.n_iter_ == share.n_iter_
    np.testing.assert_allclose(equal.group_parameters_, share.group_parameters_, atol=1e-9)


@pytest.mark.parametrize("share", [1e-6, 1e-12])
def test_a_group_that_weighs_nothing_does_not_keep_the_solver_from_ending(share):
    """Its goal would be below what float64 can tell apart; warnings are errors here."""
    X, y, groups = rows_of(EVEN, seed=0)
    weights = np.where(groups == 2, share, 1.0)
    clf = FairSmoothClassifier(group_weights="share", free_reference=False, random_state=0)
    clf.fit(X, y, sensitive_features=groups, sample_weight=weights)
    assert clf.n_iter_ < 40
