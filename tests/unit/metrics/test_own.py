"""Rows beside the groups' own classifiers: pieces are the whole."""

import numpy as np
import pytest

from fairsmooth.core.architecture import Network
from fairsmooth.core.predictor import Predictor
from fairsmooth.core.rows import CodedRows
from fairsmooth.core.rule import FittedRule
from fairsmooth.data.groups import Groups
from fairsmooth.metrics import own
from fairsmooth.metrics.own import Distances, DistanceSums, own_rows
from fairsmooth.metrics.scored import score_rows


def test_pieces_give_what_all_rows_give(case, monkeypatch):
    groups = score_rows(case.clf, case.X, case.y, sensitive_features=case.group).groups
    whole = own_rows(case.clf, case.X, groups)
    monkeypatch.setattr(own, "PIECE_ROWS", 37)
    pieces = own_rows(case.clf, case.X, groups)
    for name in ("scores", "own_scores"):
        np.testing.assert_allclose(getattr(pieces, name), getattr(whole, name), atol=1e-12)
    np.testing.assert_array_equal(pieces.agreed, whole.agreed)
    for mine, theirs in zip(pieces.distances, whole.distances, strict=True):
        assert mine.n_rows == theirs.n_rows == len(case.X)
        np.testing.assert_allclose([*mine.norms().values()], [*theirs.norms().values()], rtol=1e-9)


def test_norms_are_those_of_all_differences():
    differences = np.array([3.0, -4.0, 0.0])
    sums = DistanceSums(3)
    for part in (slice(0, 1), slice(1, 1), slice(1, 3)):
        sums.add(np.column_stack([differences[part], differences[part] / 2]), slice(1, 3))
    nothing, added, half = sums.by_group()
    assert nothing == Distances()
    assert half.norms() == {name: norm / 2 for name, norm in added.norms().items()}
    norms = added.norms()
    assert norms["l1"] == 7.0 / 3.0
    assert norms["linf"] == 4.0
    np.testing.assert_allclose(norms["l2"], np.sqrt(25.0 / 3.0), rtol=1e-15)
    assert np.isnan([*Distances().norms().values()]).all()


def _holder(parameters, **options):
    """A classifier with these groups' parameters, and coded rows of two columns for it."""
    names = ("a", "b", "c", "d")
    chosen = {"sigma": 0.6, "link": "logistic", "smoothing": "auto", "n_draws": 64}
    rule = FittedRule.of(
        Network(4), np.asarray(parameters), groups=tuple(range(len(parameters))),
        **{**chosen, "center": "mean", "threshold": 0.5, **options},
    )  # fmt: skip
    clf = Predictor(
        rule,
        groups=rule.certificate.groups,
        classes=np.array([0, 1]),
        n_features=4,
        names=list(names),
    )
    codes = np.random.default_rng(6).integers(0, 3, (500, 2)).astype(np.uint8)
    features = np.array([-1, 0, 1, -1, 2, 3])
    nothing = np.empty((500, 0)), np.empty(0, dtype=int)
    return clf, CodedRows(codes, np.array([0, 3]), features, *nothing, names)


@pytest.mark.parametrize("n_groups", [1, 3, 200])
@pytest.mark.parametrize("rows_at_once", [300, 16_384])
def test_compact_rows_by_all_groups_are_those_of_each(n_groups, rows_at_once, monkeypatch):
    monkeypatch.setattr(own, "PIECE_ROWS", rows_at_once)
    rng = np.random.default_rng(n_groups)
    clf, X = _holder(rng.normal(size=(n_groups, 5)))
    # Some of 200 groups have no row here.
    groups = Groups(clf.groups_, rng.integers(0, max(1, n_groups - 50), len(X)))
    found = own_rows(clf, X, groups)
    scores, intervals = clf.predict_with_interval(X)
    np.testing.assert_allclose(found.scores, scores, rtol=0, atol=1e-14)
    mine = intervals[np.arange(len(X)), groups.codes]
    np.testing.assert_array_equal(found.agreed, (mine[:, 0] > 0.5) | (mine[:, 1] <= 0.5))
    each = np.column_stack([clf.rule_.scores(X, w) for w in clf.group_parameters_])
    expected = each[np.arange(len(X)), groups.codes]
    np.testing.assert_allclose(found.own_scores, expected, rtol=0, atol=1e-13)
    gaps = np.abs(scores[:, None] - each)
    for code, distances in enumerate(found.distances):
        assert distances.n_rows == len(X)
        norms = {"l1": gaps[:, code].mean(), "linf": gaps[:, code].max()}
        norms["l2"] = np.sqrt(np.square(gaps[:, code]).mean())
        assert distances.norms() == pytest.approx(norms, rel=1e-9, abs=1e-13)
        assert distances.largest <= clf.certificate_.epsilon_by_group[code]


def test_a_group_with_the_overall_parameters_has_no_distance_at_all():
    """Its bound is 0, which a last digit would exceed."""
    clf, X = _holder([[0.3, -1.0, 2.0, 0.7, 0.1]] * 3)
    found = own_rows(clf, X, Groups(clf.groups_, np.arange(len(X)) % 3))
    np.testing.assert_array_equal(found.own_scores, found.scores)
    assert all(max(distances.norms().values()) == 0.0 for distances in found.distances)
