"""Rows in parts: what they give together is what all rows give."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
import torch

from fairsmooth.core.rows import DenseRows
from fairsmooth.training import linear_pass
from fairsmooth.training.grouped import GroupedRows, Part
from fairsmooth.training.linear_pass import LinearPass
from fairsmooth.training.row_sums import SummedRows

N, K, D = 200, 3, 4


def part_of(X, y, groups, start, stop):
    own = [start + np.flatnonzero(groups[start:stop] == k) for k in range(K)]
    first = np.bincount(groups[:start], minlength=K)
    sizes = np.bincount(groups, minlength=K)
    data = GroupedRows.of(DenseRows(X), y, own)
    return LinearPass(replace(data, part=Part(first, sizes, sizes.astype(float))), 0.6, "logistic")


@pytest.mark.parametrize("sampled", [10_000, 50])
@pytest.mark.parametrize("cuts", [(0, 120, 200), (0, 1, 77, 77, 200)])
def test_parts_add_up_to_all_rows(monkeypatch, sampled, cuts):
    monkeypatch.setattr(linear_pass, "CURVATURE_ROWS", sampled)
    random = np.random.default_rng(0)
    X, y = random.normal(size=(N, D)), random.integers(0, 2, N)
    groups = random.choice(K, N, p=[0.7, 0.25, 0.05])
    W = random.normal(size=(K, D + 1))
    by_group = [np.flatnonzero(groups == k) for k in range(K)]
    whole = LinearPass(GroupedRows.of(DenseRows(X), y, by_group), 0.6, "logistic")
    ends = pairwise(cuts)
    parts = SummedRows([part_of(X, y, groups, *each) for each in ends])
    assert parts.n_parameters == whole.n_parameters == D + 1
    one, other = whole.contribution(W), parts.contribution(W)
    np.testing.assert_allclose(other.losses, one.losses, rtol=1e-12)
    np.testing.assert_allclose(other.gradient, one.gradient, rtol=1e-11, atol=1e-12)
    np.testing.assert_array_equal(other.weights, one.weights)
    close = {"rtol": 1e-11, "atol": 1e-13}
    torch.testing.assert_close(parts.curvature(), whole.curvature(), **close)
    torch.testing.assert_close(parts.curvatures(W), whole.curvatures(W), **close)
    torch.testing.assert_close(parts.squares(), whole.squares(), **close)


@pytest.mark.parametrize("chosen", [[0, 2], [1], [0, 1, 2]])
@pytest.mark.parametrize("weighted", [False, True])
def test_some_groups_alone_are_those_of_all(chosen, weighted):
    random = np.random.default_rng(1)
    X, y, groups = random.normal(size=(N, D)), random.integers(0, 2, N), random.integers(0, K, N)
    weights = random.random(N) if weighted else None
    W = random.normal(size=(K, D + 1))
    by_group = [np.flatnonzero(groups == k) for k in range(K)]
    ways = [LinearPass(GroupedRows.of(DenseRows(X), y, by_group, weights), 0.6, "logistic")]
    if not weighted:
        ways.append(SummedRows([part_of(X, y, groups, 0, 50), part_of(X, y, groups, 50, N)]))
    for rows in ways:
        whole, some = rows.contribution(W), rows.of_groups(np.array(chosen)).contribution(W[chosen])
        np.testing.assert_allclose(some.losses, whole.losses[chosen], rtol=1e-13)
        np.testing.assert_allclose(some.gradient, whole.gradient[chosen], rtol=1e-11, atol=1e-13)
        np.testing.assert_allclose(some.weights, whole.weights[chosen], rtol=1e-13)
        # A part still knows what it is a part of.
        narrow = rows.of_groups(np.array(chosen)).curvatures(W[chosen])
        expected = ways[0].curvatures(W)[chosen]
        torch.testing.assert_close(narrow, expected, rtol=1e-11, atol=1e-13)


def test_gaps_are_no_sums_over_parts():
    with pytest.raises(NotImplementedError, match="all rows in one place"):
        SummedRows([]).parity(None, np.zeros(2))
