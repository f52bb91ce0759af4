"""Ranking and calibration by group: right, and without an array of every row for every group."""

import tracemalloc

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from fairsmooth.data.groups import Groups
from fairsmooth.metrics.auditing.score_records import areas_under_curve, score_records
from fairsmooth.metrics.scored import ScoredRows


def scored(n_rows, n_groups):
    rng = np.random.default_rng(0)
    scores = rng.random(n_rows)
    y = (rng.random(n_rows) < scores).astype(np.int64)
    groups = Groups(tuple(range(n_groups)), np.arange(n_rows) % n_groups)
    return ScoredRows(y=y, groups=groups, scores=scores, decisions=scores > 0.5)


def test_auc_and_calibration_are_those_of_each_groups_rows():
    rows = scored(600, 3)
    found = {(each.metric, each.group): each.value for each in score_records(rows, confidence=0.9)}
    for code, group in (*enumerate(rows.groups.labels), (None, None)):
        own = slice(None) if code is None else rows.groups.codes == code
        y, scores = rows.y[own], rows.scores[own]
        assert found["auc", group] == pytest.approx(roc_auc_score(y, scores))
        assert found["calibration", group] == pytest.approx(float((scores - y).mean()))
        assert found["brier_score", group] == pytest.approx(float(((scores - y) ** 2).mean()))


def test_areas_of_groups_with_ties_are_those_of_all_pairs():
    rng = np.random.default_rng(1)
    codes = rng.integers(0, 8, 400)
    # One group has no rows, one no positive and one no negative rows.
    codes[codes == 5] = 6
    scores, y = rng.integers(-3, 4, 400) / 2.0, rng.integers(0, 2, 400)
    y[codes == 1], y[codes == 2] = 0, 1
    found = areas_under_curve(scores, y, Groups(tuple("abcdefgh"), codes))
    for code, area in enumerate(found):
        high, low = (scores[(codes == code) & (y == label)] for label in (1, 0))
        right = (high[:, None] > low) + 0.5 * (high[:, None] == low)
        assert area == right.sum() / right.size if right.size else np.isnan(area)
    assert np.isnan(found).tolist() == [code in (1, 2, 5) for code in range(8)]


def test_a_score_that_is_no_number_leaves_its_group_without_an_area():
    groups = Groups(("a", "b"), np.array([0, 0, 1, 1]))
    scores, y = np.array([np.nan, 1.0, 2.0, 3.0]), np.array([0, 1, 0, 1])
    found = areas_under_curve(scores, y, groups)
    assert np.isnan(found[0])
    assert found[1] == 1.0


def test_memory_does_not_grow_with_rows_times_groups():
    peaks = []
    for n_groups in (2, 200):
        rows = scored(100_000, n_groups)
        tracemalloc.start()
        for _ in score_records(rows, confidence=0.9):
            pass
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    # A mask of every row for every group would add 20 MB to less than 10.
    assert peaks[1] < 1.5 * peaks[0]
