import copy
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from fairsmooth.core.architecture import Network
from fairsmooth.core.few_rows import FEW, few_linear_scores
from fairsmooth.core.rule import FittedRule
from fairsmooth.core.smoothing import smooth_probability
from fairsmooth.exceptions import InputError

NUMBERS = st.floats(-50, 50)


def rule(**options):
    chosen = {"sigma": 0.5, "link": "logistic", "smoothing": "auto", "n_draws": 64}
    parameters = np.asfortranarray([[1.0, 2.0, 3.0], [1.5, 2.0, 2.5]])
    return FittedRule.of(
        Network(2), parameters, groups=("a", "b"),
        **{"center": "mean", "threshold": 0.5, **chosen, **options},
    )  # fmt: skip


@given(
    parameters=arrays(float, 4, elements=NUMBERS),
    X=arrays(float, (3, 3), elements=NUMBERS),
    sigma=st.one_of(st.just(0.0), st.floats(1e-3, 10)),
    link=st.sampled_from(["logistic", "probit"]),
)
def test_few_rows_in_numpy_are_what_torch_computes(parameters, X, sigma, link):
    ours = few_linear_scores(parameters, X, sigma=sigma, link=link)
    theirs = smooth_probability((), parameters, X, sigma=sigma, link=link)
    np.testing.assert_allclose(ours, theirs, rtol=1e-12, atol=1e-15)


def test_what_overflows_is_left_to_torch():
    X = np.array([[1e200, 0.0]])
    assert few_linear_scores(np.ones(3), X, sigma=1.0, link="probit") is None
    assert rule().scores(X, np.ones(3)).shape == (1,)


def test_few_and_many_rows_agree():
    X = np.random.default_rng(0).normal(size=(FEW + 1, 2))
    fitted = rule()
    many = fitted.scores(X, fitted.parameters)
    few = np.concatenate([fitted.scores(X[i : i + 1], fitted.parameters) for i in range(len(X))])
    np.testing.assert_allclose(few, many, rtol=1e-14)


@pytest.mark.parametrize(
    "copied",
    [lambda r: r, copy.deepcopy, lambda r: pickle.loads(pickle.dumps(r))],  # noqa: S301
)
def test_arrays_are_in_c_order_and_cannot_be_written(copied):
    fitted = copied(rule(free_group_parameters=np.ones((2, 3), order="F")))
    for array in (fitted.group_parameters, fitted.parameters, fitted.free_group_parameters):
        assert array.flags.c_contiguous
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0.0
    with pytest.raises(AttributeError):
        fitted.sigma = 1.0


def test_a_score_that_is_no_number_is_refused():
    fitted = rule(sigma=0.0)
    with pytest.raises(InputError, match="Expected a score for every row, got NaN for row 1"):
        fitted.scores(np.array([[0.0, 0.0], [1e308, 1e308]]), np.array([1e3, -1e3, 0.0]))
