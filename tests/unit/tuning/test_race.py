"""Trials that are clearly beaten, or clearly beyond the limits, see no further fold."""

import numpy as np

from fairsmooth.tuning import SearchLimits
from fairsmooth.tuning.judged import FoldCounts, Judged
from fairsmooth.tuning.limits import Aim
from fairsmooth.tuning.race import reason_to_stop


def judged(errors, gap=0.0, epsilon=0.1, n=2000, folds=1):
    """Two groups of n rows each; so many errors, and a gap of selection rates."""
    rows = np.array([[n // 2, n // 2]] * 2)
    right = round(n // 2 * (1.0 - errors))
    hits = np.array([[n // 2 - right, right]] * 2)
    hits[1] = np.clip(hits[1] - round(gap * n / 2), 0, n // 2)
    return Judged((FoldCounts(rows, hits, epsilon),) * folds)


def stop(mine, rivals, limits=None):
    rivals = dict(enumerate(rivals))
    return reason_to_stop(mine, rivals, limits or SearchLimits(), Aim())


def test_the_clearly_beaten_stop():
    assert "trial 0 is 0.1" in stop(judged(0.3), [judged(0.2, folds=3)])


def test_one_decision_for_everybody_is_no_trial_to_go_on_with():
    alike = Judged((FoldCounts(np.array([[5, 5]] * 2), np.zeros((2, 2), dtype=int), 0.1),))
    assert "everybody alike" in stop(alike, [judged(0.2, folds=3)])
    assert stop(alike, []) is None


def test_those_that_may_be_unlucky_go_on():
    assert stop(judged(0.21), [judged(0.2, folds=3)]) is None


def test_those_with_something_to_show_for_it_go_on():
    assert stop(judged(0.3), [judged(0.2, gap=0.1, folds=3)]) is None
    limited = SearchLimits(max_epsilon=1.0)
    assert stop(judged(0.3, epsilon=0.01), [judged(0.2, folds=3)], limited) is None
    assert stop(judged(0.3, epsilon=0.01), [judged(0.2, folds=3)]) is not None
    assert stop(judged(0.3), []) is None


def test_beyond_the_limits_only_where_another_keeps_them():
    limits = SearchLimits(max_dp=0.05, max_epsilon=0.2)
    wide = judged(0.2, gap=0.2)
    assert "demographic parity is beyond" in stop(wide, [judged(0.3, folds=3)], limits)
    assert stop(wide, [judged(0.2, gap=0.2, folds=3)], limits) is None
    assert stop(judged(0.2, gap=0.06), [judged(0.3, folds=3)], limits) is None
    loose = judged(0.2, epsilon=0.4)
    assert "epsilon is beyond" in stop(loose, [judged(0.3, folds=3)], limits)
    assert stop(judged(0.2, epsilon=0.22), [judged(0.3, folds=3)], limits) is None
