import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairsmooth.core.certificate import certify
from fairsmooth.core.parameters import mean_center
from fairsmooth.training.decisions.shift import choose_length, common_shift
from fairsmooth.verify._bounds import LIPSCHITZ, TOTAL_VARIATION
from fairsmooth.verify._exact import measure


@given(st.integers(0, 10**6), st.integers(2, 5), st.floats(-3.0, 3.0), st.floats(1e-4, 1.0))
def test_a_common_shift_leaves_epsilon_and_every_number_stays_a_bound(seed, n_groups, far, apart):
    random = np.random.default_rng(seed)
    groups = random.normal(size=12) + apart * random.normal(size=(n_groups, 12))
    wanted = 10.0**far * random.normal(size=12)
    shifted = common_shift(groups, mean_center(groups), wanted)
    assert mean_center(shifted) == pytest.approx(wanted, abs=1e-9)
    before, after = certify(groups, sigma=0.5), certify(shifted, sigma=0.5)
    assert after.epsilon == pytest.approx(before.epsilon, abs=1e-12)
    assert after.epsilon_tight == pytest.approx(before.epsilon_tight, abs=1e-12)
    # Exact whole numbers and ball arithmetic of the verifier, on the shifted parameters.
    geometry = measure(shifted, mean_center(shifted))
    for position, squared in enumerate(geometry.squared_radii):
        assert TOTAL_VARIATION.admits(after.epsilon_by_group[position], squared, sigma=0.5)
        assert LIPSCHITZ.admits(after.epsilon_linear_by_group[position], squared, sigma=0.5)


def test_the_length_with_the_least_loss_is_found():
    random = np.random.default_rng(0)
    X = random.normal(size=(4000, 2))
    truth = np.array([1.5, -2.0, 0.3])
    linear = X @ truth[:-1] + truth[-1]
    y = (random.random(4000) < 1.0 / (1.0 + np.exp(-linear))).astype(np.int64)

    def score(w):
        return 1.0 / (1.0 + np.exp(-(X @ w[:-1] + w[-1])))

    rule = truth / 37.0
    found = choose_length(score, rule, y, scores_of_rule=linear / 37.0)
    assert found == pytest.approx(truth, rel=0.15)
    assert np.sign(found).tolist() == np.sign(rule).tolist()


def test_a_rule_without_scores_keeps_its_length():
    rule = np.zeros(3)
    assert choose_length(lambda w: w, rule, np.zeros(2), scores_of_rule=np.zeros(2)) is rule
