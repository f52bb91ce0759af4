import math
from dataclasses import replace

import numpy as np
import pytest

from fairsmooth.core.certificate import certify
from fairsmooth.core.confirm import ROUNDING, confirm
from fairsmooth.exceptions import InputError

W = np.random.default_rng(0).normal(size=(3, 7))


@pytest.fixture
def computed():
    return certify(W, sigma=0.5, groups=["a", "b", "c"])


def test_itself_is_confirmed(computed):
    assert confirm(computed, computed) == computed


def test_larger_numbers_are_kept_and_rounding_is_raised(computed):
    larger = replace(computed, epsilon=2 * computed.epsilon)
    assert confirm(larger, computed) == larger
    rounded = replace(computed, max_distance=computed.max_distance * (1 - ROUNDING / 2))
    assert confirm(rounded, computed) == computed
    unbounded = replace(computed, epsilon=math.inf)
    assert confirm(unbounded, computed).epsilon == math.inf


@pytest.mark.parametrize("name", ["max_distance", "epsilon", "epsilon_tight"])
@pytest.mark.parametrize("factor", [1 - 3 * ROUNDING, 0.5, -1.0, math.nan])
def test_smaller_numbers_are_refused(computed, name, factor):
    smaller = replace(computed, **{name: factor * getattr(computed, name)})
    with pytest.raises(InputError, match=f"not the certificate of its weights: expected {name}"):
        confirm(smaller, computed)


@pytest.mark.parametrize("name", ["distances", "epsilon_by_group", "epsilon_linear_by_group"])
def test_smaller_numbers_of_a_group_are_refused(computed, name):
    numbers = dict(getattr(computed, name))
    numbers["b"] *= 0.999
    with pytest.raises(InputError, match=f"expected {name} of at least"):
        confirm(replace(computed, **{name: numbers}), computed)


@pytest.mark.parametrize(
    ("name", "value"),
    [("sigma", 0.6), ("groups", ("a", "b", "d")), ("n_parameters", 8), ("center", "ball")],
)
def test_a_certificate_of_another_model_is_refused(computed, name, value):
    with pytest.raises(InputError, match=f"Expected {name} "):
        confirm(replace(computed, **{name: value}), computed)


def test_a_finite_bound_is_refused_where_there_is_none():
    computed = certify(W, sigma=0.0)
    with pytest.raises(InputError, match="expected epsilon of at least inf"):
        confirm(replace(computed, epsilon=1e300), computed)


def test_certify_measures_from_given_overall_parameters():
    elsewhere = certify(W, sigma=0.5, center="ball", parameters=W[0])
    assert elsewhere.distances[0] == 0.0
    assert elsewhere.max_distance == certify(W, sigma=0.5).max_distance
    assert elsewhere.epsilon >= elsewhere.epsilon_linear_by_group[1]
    with pytest.raises(InputError, match=r"Expected 7 finite overall parameters, got shape \(3,\)"):
        certify(W, sigma=0.5, parameters=np.zeros(3))
    with pytest.raises(InputError, match="Expected 7 finite overall parameters"):
        certify(W, sigma=0.5, parameters=np.full(7, np.nan))


def test_certificates_do_not_depend_on_the_memory_order():
    assert certify(np.asfortranarray(W), sigma=0.5) == certify(W, sigma=0.5)
