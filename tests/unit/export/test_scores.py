"""What a graph allows for the error of its scores."""

import numpy as np
import pytest

from fairsmooth.core.network import Network
from fairsmooth.core.rule import FittedRule
from fairsmooth.export.scores import SCORE_ERROR, score_error


def rule(size, sigma):
    parameters = np.array([[size, -size, 1.0], [size, -size, 2.0]])
    options = {"link": "probit", "smoothing": "auto", "n_draws": 64, "center": "mean"}
    return FittedRule.of(
        Network(2), parameters, groups=("a", "b"), sigma=sigma, threshold=0.5, **options
    )


def test_intervals_of_a_graph_allow_for_large_weights_that_may_cancel():
    assert score_error(rule(3.0, 0.5)) == SCORE_ERROR
    assert score_error(rule(3.0, 0.0)) == SCORE_ERROR
    assert score_error(rule(1e9, 0.5)) == pytest.approx(SCORE_ERROR + 1e-5, rel=0.5)
    assert score_error(rule(1e300, 1e-10)) == SCORE_ERROR + 1.0
