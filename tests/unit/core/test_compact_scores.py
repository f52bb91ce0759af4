"""Scores by all groups at once are those of each group, and within the error that is claimed."""

from itertools import pairwise

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.sparse import csr_array
from scipy.special import expit, ndtr

from fairsmooth.core.architecture import Network
from fairsmooth.core.calibration import Calibration
from fairsmooth.core.compact_scores import compact_scores, parts_of
from fairsmooth.core.few_rows import FEW
from fairsmooth.core.rows import CodedRows, DenseRows, SparseRows
from fairsmooth.core.rule import FittedRule

N, COLUMNS, LEVELS = 3 * FEW, 5, 4


def coded(numbers=0, columns=COLUMNS):
    rng = np.random.default_rng(0)
    codes = rng.integers(0, LEVELS, (N, columns)).astype(np.uint8)
    features = np.arange(columns * LEVELS) - np.arange(columns * LEVELS) // LEVELS - 1
    features[::LEVELS] = -1  # the first level of every column has no indicator
    width = columns * (LEVELS - 1)
    # Rows of all lengths, so that every rule of the logistic is needed.
    values = rng.normal(size=(N, numbers)) * np.logspace(-1, 2, N)[:, None]
    places = width + np.arange(numbers)
    names = tuple(f"f{j}" for j in range(width + numbers))
    offsets = np.arange(columns) * LEVELS
    return CodedRows(codes, offsets, features, values, places, names)


def forms():
    with_numbers = coded(numbers=3)
    matrix = with_numbers.toarray()
    return {
        "codes": coded(),
        "codes, numbers": with_numbers,
        "numbers": coded(numbers=3, columns=0),
        "codes, packed": coded().packed(),
        "sparse": SparseRows(csr_array(matrix)),
        "dense": DenseRows(matrix),
    }


def rule_for(X, n_groups, **options):
    parameters = np.random.default_rng(1).normal(size=(n_groups, X.shape[1] + 1))
    chosen = {"sigma": 0.7, "link": "logistic", "smoothing": "auto", "n_draws": 64}
    groups = tuple(range(n_groups))
    kept = {"center": "mean", "threshold": 0.5, **chosen, **options}
    return FittedRule.of(Network(X.shape[1]), parameters, groups=groups, **kept)


def gathered(rule, X):
    found = np.full((len(X), len(rule.group_parameters)), np.nan)
    for rows, groups, scores in rule.scores_by_group(X):
        found[rows, groups] = scores
    return found


@pytest.mark.parametrize("form", forms())
@pytest.mark.parametrize("link", ["logistic", "probit"])
@pytest.mark.parametrize("sigma", [0.0, 0.02, 0.7, 30.0])
def test_all_groups_at_once_are_each_group(form, link, sigma):
    X = forms()[form]
    rule = rule_for(X, 7, link=link, sigma=sigma)
    each = np.column_stack([rule.scores(X, own) for own in rule.group_parameters])
    np.testing.assert_allclose(gathered(rule, X), each, rtol=0, atol=1e-13)
    how = {"sigma": sigma, "link": link, "device": "cpu"}
    together = compact_scores(rule.group_parameters, X, **how)
    np.testing.assert_array_equal(gathered(rule, X), together)
    alone = [compact_scores(own[None], X, **how)[:, 0] for own in rule.group_parameters]
    np.testing.assert_allclose(np.column_stack(alone), together, rtol=0, atol=1e-13)
    if form.startswith("codes") and "numbers" not in form:
        np.testing.assert_array_equal(np.column_stack(alone), together)


@pytest.mark.parametrize(("link", "g"), [("logistic", expit), ("probit", ndtr)])
def test_scores_are_the_integral_within_what_is_claimed(link, g):
    X = coded(numbers=2)
    rule = rule_for(X, 3, link=link)
    found = gathered(rule, X)
    matrix = np.column_stack([X.toarray(), np.ones(N)])
    for row in range(0, N, 29):
        scale = 0.7 * np.linalg.norm(matrix[row])
        for group, own in enumerate(rule.group_parameters):
            mean = float(matrix[row] @ own)

            def at(z, mean=mean, scale=scale):
                return g(mean + scale * z) * np.exp(-z * z / 2) / np.sqrt(2 * np.pi)

            step = -mean / scale
            points = sorted({-9.0, min(max(step, -9.0), 9.0), 9.0})
            pieces = pairwise(points)
            exact = sum(quad(at, a, b, limit=500, epsabs=1e-12)[0] for a, b in pieces)
            assert abs(found[row, group] - exact) < 1e-9


@pytest.mark.parametrize("n_groups", [1, 2, 200, 3000])
def test_parts_cover_all_rows_and_groups(n_groups):
    X = coded()
    rule = rule_for(X, n_groups)
    seen = np.zeros((len(X), n_groups), dtype=int)
    for rows, groups, scores in rule.scores_by_group(X):
        assert scores.shape == seen[rows, groups].shape
        assert scores.size <= 2**19
        seen[rows, groups] += 1
    assert (seen == 1).all()
    sizes = [part.stop - part.start for part in parts_of(10**6, 200)]
    assert sum(sizes) == 10**6
    assert max(sizes) - min(sizes) <= 1
    assert parts_of(0, 200) == []


def test_maps_of_scores_are_applied():
    X, calibration = coded(), Calibration(slope=1.4, offset=-0.3)
    rule = rule_for(X, 4, calibration=calibration)
    each = np.column_stack([rule.scores(X, own) for own in rule.group_parameters])
    np.testing.assert_allclose(gathered(rule, X), each, rtol=0, atol=1e-13)


@pytest.mark.parametrize("options", [{"smoothing": "monte_carlo"}, {}])
def test_what_is_not_exact_or_few_goes_group_by_group(options):
    X = coded() if options else coded()[: FEW // 2]
    rule = rule_for(X, 3, **options)
    parts = list(rule.scores_by_group(X))
    assert [groups for _, groups, _ in parts] == [slice(k, k + 1) for k in range(3)]
    each = np.column_stack([rule.scores(X, own) for own in rule.group_parameters])
    np.testing.assert_array_equal(gathered(rule, X), each)


def test_rows_too_long_to_be_squared_go_group_by_group():
    entries = np.random.default_rng(2).normal(size=(N, 2))
    entries[7] = [1e200, -1e199]
    X = SparseRows(csr_array(entries))
    rule = rule_for(X, 3)
    how = {"sigma": 0.7, "link": "logistic", "device": "cpu"}
    assert compact_scores(rule.group_parameters, X, **how) is None
    each = np.column_stack([rule.scores(entries, own) for own in rule.group_parameters])
    np.testing.assert_allclose(gathered(rule, X), each, rtol=0, atol=1e-12)


@pytest.mark.parametrize("name", forms())
@pytest.mark.parametrize(("link", "sigma"), [("logistic", 0.7), ("probit", 0.3), ("logistic", 0.0)])
def test_each_row_by_its_own_groups_free_classifier(name, link, sigma):
    X, n_groups = forms()[name], 7
    random = np.random.default_rng(2)
    free = random.normal(size=(n_groups, X.shape[1] + 1))
    # Group 3 has no rows, and rows come in no order.
    codes = random.choice([0, 1, 2, 4, 5, 6], len(X))
    rule = rule_for(X, n_groups, link=link, sigma=sigma, free_group_parameters=free)
    found = rule.free_scores(X, codes)
    for group in range(n_groups):
        rows = np.flatnonzero(codes == group)
        expected = rule.smooth_scores(X.take(rows).toarray(), free[group]) if len(rows) else []
        np.testing.assert_allclose(found[rows], expected, rtol=0, atol=1e-12)


def test_free_scores_of_rows_that_overflow_go_the_longer_way():
    X = DenseRows(np.array([[1e200, 1e200], [1.0, 2.0], [-1e200, 0.0]]))
    free = np.array([[1.0, 1.0, 0.0], [2.0, 0.0, 1.0]])
    rule = rule_for(X, 2, free_group_parameters=free)
    found = rule.free_scores(X, np.array([0, 1, 1]))
    assert np.isfinite(found).all()
    assert found[0] > 0.9 > found[1] > 0.5 > 0.1 > found[2]
