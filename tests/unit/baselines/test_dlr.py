import numpy as np
import pytest
from scipy.optimize import OptimizeResult, approx_fprime
from sklearn.exceptions import ConvergenceWarning

from fairsmooth.baselines.dlr import classifier
from fairsmooth.baselines.dlr.classifier import DLRClassifier
from fairsmooth.baselines.dlr.counted_rows import CountedRows
from fairsmooth.baselines.dlr.denoised import (
    HardShares,
    SoftShares,
    denoised_requirements,
    flipped,
    noise_matrix,
)
from fairsmooth.baselines.dlr.logistic_loss import LogisticLoss
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


def counted(seed=0, n_rows=400, n_groups=3):
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(n_rows, 4)) * (rng.random((n_rows, 4)) < 0.6)
    y, codes = rng.integers(0, 2, n_rows), rng.integers(0, n_groups, n_rows)
    return rows, y, codes, CountedRows(rows, y, codes, n_groups), rng.normal(size=4)


def repeated(seed=0, n_groups=3):
    """Rows of which each comes several times, with other labels and groups."""
    rng = np.random.default_rng(seed)
    rows = np.column_stack([np.eye(5)[rng.integers(0, 5, 600)], rng.integers(0, 3, 600), [1] * 600])
    y, codes = rng.integers(0, 2, 600), rng.integers(0, n_groups, 600)
    theta = rng.normal(size=7)
    theta[0] = -theta[-1] - 0.004  # rows that a step of .01 decides anew
    return rows.astype(float), y, codes, CountedRows(rows, y, codes, n_groups), theta


@pytest.mark.parametrize("sample", [counted, repeated])
def test_hard_shares_count_decisions_by_group(sample):
    rows, y, codes, kept, theta = sample()
    expected = [np.mean((rows @ theta >= 0) & (codes == k)) for k in range(3)]
    shares = HardShares(kept, kept.counts.sum(axis=1), step=0.01)
    np.testing.assert_allclose(shares.value(theta), expected, rtol=1e-12)
    negative = y == 0
    expected = [np.mean((rows @ theta >= 0)[negative] & (codes == k)[negative]) for k in range(3)]
    shares = HardShares(kept, kept.counts[:, 0], step=0.01)
    np.testing.assert_allclose(shares.value(theta), expected, rtol=1e-12)


@pytest.mark.parametrize("step", [0.01, 0.1])
@pytest.mark.parametrize("sample", [counted, repeated])
def test_hard_slopes_are_forward_differences(sample, step):
    rows, _, codes, kept, theta = sample()

    def shares(at):
        return np.array([np.mean((rows @ at >= 0) & (codes == k)) for k in range(3)])

    moves = [shares(theta + step * unit) - shares(theta) for unit in np.eye(len(theta))]
    found = HardShares(kept, kept.counts.sum(axis=1), step=step).slopes(theta)
    assert np.abs(found).max() > 0.0
    np.testing.assert_allclose(found, np.array(moves).T / step, atol=1e-12)


def test_soft_slopes_are_derivatives():
    _, _, _, kept, theta = counted()
    shares = SoftShares(kept, kept.counts.sum(axis=1), sharpness=10.0)
    numeric = approx_fprime(theta, shares.value, 1e-6)
    np.testing.assert_allclose(shares.slopes(theta), numeric, atol=1e-4)


def test_soft_shares_approach_hard_ones():
    rows, _, _, kept, theta = counted()
    counts = kept.counts.sum(axis=1)
    soft = SoftShares(kept, counts, sharpness=1e6).value(theta)
    zero_rows = (rows @ theta == 0).mean()
    hard = HardShares(kept, counts, step=0.1).value(theta)
    assert np.abs(soft - hard).max() <= 0.5 * zero_rows + 1e-6


def test_counting_equal_rows_changes_no_evaluation():
    rows, y, codes, kept, theta = repeated()
    assert kept.matrix.shape[0] == 15
    score = rows @ theta
    loss = LogisticLoss(kept, 0.1, as_published=True)
    expected = np.mean(np.logaddexp(0.0, score) - y * score) + 0.1 * theta @ theta
    assert loss.value(theta) == pytest.approx(expected, rel=1e-12)
    slope = (1 / (1 + np.exp(-score)) - y) @ rows / 600 + 0.2 * theta
    np.testing.assert_allclose(loss.gradient(theta), slope, rtol=1e-12, atol=1e-14)
    assert loss.accuracy(theta) == np.mean((score >= 0) == y)
    soft = 1 / (1 + np.exp(-10.0 * score))
    shares = SoftShares(kept, kept.counts.sum(axis=1), sharpness=10.0)
    by_group = [np.mean(soft * (codes == k)) for k in range(3)]
    np.testing.assert_allclose(shares.value(theta), by_group, rtol=1e-12)
    slopes = [(10.0 * soft * (1 - soft) * (codes == k)) @ rows / 600 for k in range(3)]
    np.testing.assert_allclose(shares.slopes(theta), slopes, rtol=1e-12, atol=1e-14)


def authors_loss(scores, y):
    """The loss row by row, from the rounded probability."""
    small = np.exp(-np.abs(scores))
    p = np.where(scores >= 0, 1 / (1 + small), small / (1 + small))
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.mean(-(y * np.log(p) + (1 - y) * np.log(1 - p)))


@pytest.mark.parametrize("scale", [1.0, 30.0, 36.5, 36.9, 40.0, 700.0, 760.0, 1e6, -40.0, -760.0])
@pytest.mark.parametrize("labels", [[0, 0], [1, 1], [0, 1]])
def test_the_loss_has_no_value_where_the_authors_has_none(scale, labels):
    rows, y = np.array([[1.0], [1.0]]), np.array(labels)
    kept = CountedRows(rows, y, np.zeros(2, dtype=np.intp), 1)
    assert kept.matrix.shape[0] == 1
    theta = np.array([scale])
    published = LogisticLoss(kept, 0.0, as_published=True).value(theta)
    # Near the end the authors' 1 - p has few digits left.
    assert published == pytest.approx(
        authors_loss(rows @ theta, y), rel=0.05, abs=1e-9, nan_ok=True
    )
    assert np.isfinite(LogisticLoss(kept, 0.0, as_published=False).value(theta))


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


# Hard decisions have no slopes, and the solver may run into its limit.
@pytest.mark.filterwarnings("ignore:DLR's solver stopped early")
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


def few_positives(seed=0):
    """Rows on which a solver with a loss that is defined everywhere leaves for thousands."""
    rng = np.random.default_rng(seed)
    groups = (rng.random(1500) < 0.67).astype(int)
    levels = [np.eye(size)[rng.integers(0, size, 1500)] for size in (7, 8)]
    X = np.column_stack([groups, rng.integers(0, 2, 1500), *levels])
    y = (0.8 * X @ rng.normal(size=17) + groups + rng.normal(size=1500) > 1.5).astype(int)
    return X, y, groups


@pytest.mark.filterwarnings("ignore:DLR's solver stopped early")
def test_no_try_runs_away_unless_it_says_so():
    X, y, groups = few_positives()
    model = DLRClassifier(random_state=0, n_tries=3).fit(X, y, sensitive_features=groups)
    for attempt in model.attempts_:
        highest = (X @ attempt.coefficients[:-1] + attempt.coefficients[-1]).max()
        assert highest < 36.75 or "the loss ended as" in attempt.unmet


def test_tells_when_the_try_that_is_kept_did_not_converge(monkeypatch, biased):
    X, y, groups = biased
    monkeypatch.setattr(classifier, "_MAX_ITER", 1)
    model = DLRClassifier(n_tries=1, random_state=0)
    with pytest.warns(ConvergenceWarning, match="in the try that is kept: Iteration limit reached"):
        model.fit(X, y, sensitive_features=groups)
    assert model.attempts_[0].unmet == "Iteration limit reached"


@pytest.mark.parametrize(
    ("ended", "message"),
    [(100.0, "kept: the loss ended as nan"), (np.inf, "kept: it left the numbers, its start is")],
)
def test_tells_when_the_solver_ended_nowhere(monkeypatch, biased, ended, message):
    X, y, groups = biased

    def nowhere(fun, start, **_):
        end = np.full(len(start), ended)
        return OptimizeResult(x=end, fun=np.nan, success=True, message="")

    monkeypatch.setattr(classifier, "minimize", nowhere)
    model = DLRClassifier(n_tries=1, random_state=0)
    with pytest.warns(ConvergenceWarning, match=message):
        model.fit(X, y, sensitive_features=groups)
    assert np.isfinite(model.coefficients_).all()


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
