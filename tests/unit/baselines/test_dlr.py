import numpy as np
import pytest
from scipy.optimize import approx_fprime

from fairsmooth.baselines.dlr.classifier import DLRClassifier
from fairsmooth.baselines.dlr.denoised import (
    GroupedRows,
    HardShares,
    SoftShares,
    denoised_requirements,
    flipped,
    noise_matrix,
)
from fairsmooth.baselines.group_fair.classifier import rate_ratio
from fairsmooth.baselines.unconstrained.classifier import UnconstrainedClassifier
from fairsmooth.exceptions import InputError


@pytest.fixture(scope="module")
def biased():
    rng = np.random.default_rng(0)
    groups = rng.integers(0, 2, 2000)
    X = np.column_stack([rng.normal(size=(2000, 3)), groups + 0.3 * rng.normal(size=2000)])
    y = (0.7 * X[:, 0] + 1.6 * groups - 0.8 + rng.normal(size=2000) > 0).astype(int)
    return X, y, groups


def test_requirements_are_the_authors_for_two_groups():
    eta0, eta1, tau, floor, n_rows = 0.3, 0.1, 0.9, 0.1, 500
    masses, shares = np.array([0.4, 0.6]), np.array([0.12, 0.35])
    required = denoised_requirements(
        noise_matrix((eta0, eta1), 2), masses, n_rows, tau=tau, floor=floor, slack=0.01
    )
    mass0 = (1 - eta1) * masses[0] - eta1 * masses[1]
    mass1 = (1 - eta0) * masses[1] - eta0 * masses[0]
    share0 = (1 - eta1) * shares[0] - eta1 * shares[1]
    share1 = (1 - eta0) * shares[1] - eta0 * shares[0]
    least = (1 - eta0 - eta1) * floor - 0.01
    expected = [
        share0 - least,
        share1 - least,
        n_rows * (mass1 * share0 - 0.89 * mass0 * share1),
        n_rows * (mass0 * share1 - 0.89 * mass1 * share0),
    ]
    np.testing.assert_allclose(required.margins(shares), expected)


@pytest.mark.parametrize("n_groups", [2, 3, 5])
def test_denoising_recovers_the_true_groups_constraints(n_groups):
    rng = np.random.default_rng(n_groups)
    noise = 0.7 * np.eye(n_groups) + 0.3 * rng.dirichlet(np.ones(n_groups), size=n_groups)
    masses = rng.dirichlet(5 * np.ones(n_groups))
    shares = masses * rng.uniform(0.2, 0.8, n_groups)
    settings = {"tau": 0.8, "floor": 0.02, "slack": 0.0}
    seen = denoised_requirements(noise, noise.T @ masses, 1, **settings)
    true = denoised_requirements(np.eye(n_groups), masses, 1, **settings)
    scale = np.linalg.det(noise)
    powers = np.repeat([1, 2], [n_groups, n_groups * (n_groups - 1)])
    np.testing.assert_allclose(
        seen.margins(noise.T @ shares), scale**powers * true.margins(shares), atol=1e-12
    )


def test_small_groups_lower_their_floor_only_beyond_two():
    masses = np.array([0.95, 0.05])
    two = denoised_requirements(np.eye(2), masses, 1, tau=0.9, floor=0.1, slack=0.0)
    np.testing.assert_allclose(two.limits[:2], 0.1)
    masses = np.array([0.6, 0.36, 0.04])
    three = denoised_requirements(np.eye(3), masses, 1, tau=0.9, floor=0.1, slack=0.0)
    np.testing.assert_allclose(three.limits[:3], [0.1, 0.1, 0.02])


def grouped_rows(seed=0, n_rows=80, n_groups=3):
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(n_rows, 4)) * (rng.random((n_rows, 4)) < 0.6)
    codes = rng.integers(0, n_groups, n_rows)
    return rows, codes, GroupedRows(rows, codes, n_groups), rng.normal(size=4)


def test_hard_shares_count_decisions_by_group():
    rows, codes, grouped, theta = grouped_rows()
    expected = [np.mean((rows @ theta >= 0) & (codes == k)) for k in range(3)]
    np.testing.assert_allclose(HardShares(grouped, step=0.01).value(theta), expected)


@pytest.mark.parametrize("step", [0.01, 0.1])
def test_hard_slopes_are_forward_differences(step):
    _, _, grouped, theta = grouped_rows()
    shares = HardShares(grouped, step=step)
    moves = [shares.value(theta + step * unit) - shares.value(theta) for unit in np.eye(4)]
    np.testing.assert_allclose(shares.slopes(theta), np.array(moves).T / step, atol=1e-12)


def test_soft_slopes_are_derivatives():
    _, _, grouped, theta = grouped_rows()
    shares = SoftShares(grouped, sharpness=10.0)
    numeric = approx_fprime(theta, shares.value, 1e-6)
    np.testing.assert_allclose(shares.slopes(theta), numeric, atol=1e-4)


def test_soft_shares_approach_hard_ones():
    _, _, grouped, theta = grouped_rows()
    soft = SoftShares(grouped, sharpness=1e6).value(theta)
    zero_rows = (grouped.matrix @ theta == 0).mean()
    hard = HardShares(grouped, step=0.1).value(theta)
    assert np.abs(soft - hard).max() <= 0.5 * zero_rows + 1e-6


def test_flips_follow_the_noise():
    codes = np.repeat([0, 1], 20_000)
    seen = flipped(codes, noise_matrix((0.3, 0.1), 2), np.random.default_rng(0))
    assert seen[:20_000].mean() == pytest.approx(0.3, abs=0.015)
    assert seen[20_000:].mean() == pytest.approx(0.9, abs=0.01)


def ratio_of(model, rows, notion):
    X, y, groups = rows
    decisions = model.fit(X, y, sensitive_features=groups).predict(X) == 1
    return rate_ratio(decisions, y, groups, notion=notion)


@pytest.mark.parametrize("notion", ["demographic_parity", "false_positive_rate"])
def test_smooth_constraints_bring_the_ratio_up(biased, notion):
    fair = DLRClassifier(notion=notion, constraints="smooth", random_state=0)
    assert ratio_of(UnconstrainedClassifier(), biased, notion) < 0.6
    assert ratio_of(fair, biased, notion) > 0.8


@pytest.mark.parametrize("notion", ["demographic_parity", "false_positive_rate"])
def test_indicator_constraints_bring_the_ratio_up(biased, notion):
    fair = DLRClassifier(notion=notion, random_state=0)
    assert (
        ratio_of(fair, biased, notion) > ratio_of(UnconstrainedClassifier(), biased, notion) + 0.1
    )


def test_denoising_sees_through_flipped_groups(biased):
    X, y, groups = biased
    blurred = DLRClassifier(noise=(0.3, 0.1), flip=True, constraints="smooth", random_state=0)
    decisions = blurred.fit(X, y, sensitive_features=groups).predict(X) == 1
    assert rate_ratio(decisions, y, groups, notion="demographic_parity") > 0.8


def test_tries_end_with_the_first_accepted_one(biased):
    X, y, groups = biased
    model = DLRClassifier(random_state=0).fit(X, y, sensitive_features=groups)
    assert [attempt.accepted for attempt in model.attempts_[:-1]] == [False] * (
        len(model.attempts_) - 1
    )
    assert 1 <= len(model.attempts_) <= 10


@pytest.mark.parametrize(
    ("noise", "message"),
    [
        ((0.1, 0.2, 0.3), r"Expected noise of shape \(2, 2\)"),
        (((0.9, 0.2), (0.1, 0.9)), "Expected every row of noise to be a distribution"),
        ((0.5, 0.5), "Expected noise that can be undone"),
    ],
)
def test_refuses_noise_that_makes_no_sense(biased, noise, message):
    X, y, groups = biased
    with pytest.raises(InputError, match=message):
        DLRClassifier(noise=noise).fit(X, y, sensitive_features=groups)
