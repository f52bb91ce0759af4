"""The normals of every row, against the smooth link and beside other rows."""

import numpy as np
import pytest
import torch

from fairsmooth.core.smoothing.linear import smooth_link
from fairsmooth.training.margins import MarginLoss
from fairsmooth.training.spreads import Spreads, logistic_normals

MARGINS = torch.linspace(-9.0, 9.0, 181, dtype=torch.float64)


def squared_norms(scales):
    """Return lengths for which the logit has these standard deviations at sigma = 0.5."""
    return 4.0 * np.square(scales) - 1.0


@pytest.mark.parametrize("scale", [1e-6, 0.5, 1.9, 1.95, 3.2, 3.3, 4.6, 7.3, 16.3, 400.0])
def test_scores_are_those_of_the_smooth_link(scale):
    lengths = squared_norms(np.full(len(MARGINS), scale))
    loss = MarginLoss.of(lengths, sigma=0.5, link="logistic")
    score, _ = loss.score_and_slope(MARGINS, 0, len(MARGINS))
    exact = smooth_link(MARGINS, torch.full_like(MARGINS, scale), "logistic")
    error = 9e-8 if scale < 1.94 else 5e-10
    torch.testing.assert_close(score, exact, rtol=0, atol=error)


def test_rows_of_much_noise_have_few_normals():
    found = {
        scale: len(
            Spreads.of(squared_norms(np.array([scale])), sigma=0.5, link="logistic")
            .piece(0, 1)[0]
            .shares
        )
        for scale in (0.5, 2.0, 4.0, 6.4, 20.0)
    }
    assert found == {0.5: 8, 2.0: 7, 4.0: 5, 6.4: 4, 20.0: 2}


@pytest.mark.parametrize("few", [False, True])
def test_the_loss_of_a_row_does_not_depend_on_others(few):
    random = np.random.default_rng(0)
    scales = random.uniform(0.5, 20.0, 500)
    scales = np.round(scales) if few else scales
    margins = torch.from_numpy(random.normal(size=500) * scales)
    loss = MarginLoss.of(squared_norms(scales), sigma=0.5, link="logistic")
    assert loss.spreads.few is few
    together = [*loss.loss_and_slope(margins, 0, 500), loss.bend(margins, 0, 500)]
    later = [*loss.loss_and_slope(margins[100:], 100, 500), loss.bend(margins[100:], 100, 500)]
    for row in range(0, 500, 7):
        alone = MarginLoss.of(squared_norms(scales[row : row + 1]), sigma=0.5, link="logistic")
        own = margins[row : row + 1]
        expected = [*alone.loss_and_slope(own, 0, 1), alone.bend(own, 0, 1)]
        for whole, part, one in zip(together, later, expected, strict=True):
            torch.testing.assert_close(whole[row : row + 1], one, rtol=1e-12, atol=1e-15)
            if row >= 100:
                torch.testing.assert_close(part[row - 100], one[0], rtol=1e-12, atol=1e-15)


def test_autograd_has_the_same_normals():
    scales = np.array([0.7, 1.9399, 1.9401, 3.0, 5.0, 8.0, 17.0])
    lengths = squared_norms(scales)
    inverse, shares = logistic_normals(torch.from_numpy(0.25 * (lengths + 1.0)))
    assert inverse.shape == shares.shape == (7, 8)
    torch.testing.assert_close(shares.sum(-1), torch.ones(7, dtype=torch.float64))
    for row in range(7):
        own = Spreads.of(lengths[row : row + 1], sigma=0.5, link="logistic").piece(0, 1)[0]
        used = len(own.shares)
        torch.testing.assert_close(shares[row, :used], own.shares, rtol=0, atol=0)
        torch.testing.assert_close(inverse[row, :used], own.inverse[:, 0], rtol=1e-15, atol=0)
        assert not shares[row, used:].any()


def test_many_different_lengths_are_kept_row_by_row():
    lengths = np.linspace(0.0, 9.0, 1000)
    loss = MarginLoss.of(lengths, sigma=0.5, link="logistic")
    few = MarginLoss.of(lengths[:3], sigma=0.5, link="logistic")
    assert loss.spreads.places is None
    assert few.spreads.places is not None
    margins = torch.tensor([-1.0, 0.5, 2.0], dtype=torch.float64)
    for ours, theirs in zip(
        loss.loss_and_slope(margins, 0, 3), few.loss_and_slope(margins, 0, 3), strict=True
    ):
        torch.testing.assert_close(ours, theirs, rtol=1e-14, atol=0)


@pytest.mark.parametrize("count", [1, 5, 256, 257])
def test_few_lengths_are_found_in_pieces(count, monkeypatch):
    monkeypatch.setattr("fairsmooth.training.spreads._PIECE", 7)
    # New lengths turn up until the last piece.
    lengths = np.concatenate([np.arange(count).repeat(2), np.arange(count)[::-1]]) * 0.3
    spreads = Spreads.of(lengths, sigma=1.0, link="logistic")
    assert spreads.few is (count <= 256)
    if count > 256:
        np.testing.assert_array_equal(spreads.variances, lengths + 1.0)
        return
    values, places = np.unique(lengths + 1.0, return_inverse=True)
    np.testing.assert_array_equal(spreads.variances, values)
    if count == 1:
        assert spreads.places is None
        return
    np.testing.assert_array_equal(spreads.places, places)
