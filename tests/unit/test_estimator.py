import numpy as np
import pandas as pd
import pytest
import torch
from scipy.optimize import minimize
from scipy.special import expit, ndtr
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression

from fairsmooth import FairSmoothClassifier
from fairsmooth.core.architecture import Network
from fairsmooth.datasets import make_biased
from fairsmooth.exceptions import GroupError, InputError

# For tests that stop early on purpose.
UNFINISHED = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def fit(data, **parameters):
    classifier = FairSmoothClassifier(**{"random_state": 0, **parameters})
    return classifier.fit(data.X, data.y, sensitive_features=data.sensitive_features)


@pytest.fixture
def uneven(biased):
    """Three rows of one group to one of the other."""
    kept = np.flatnonzero((biased.groups.codes == 0) | (np.arange(len(biased)) % 3 == 0))
    return biased.take(kept)


@pytest.mark.parametrize("group_weights", ["equal", "share"])
def test_objective_is_minimised_as_an_independent_solver_would(uneven, group_weights):
    """Eq. (15) written out with NumPy and minimised by another method."""
    sigma, alpha, decay = 0.7, 0.3, 1e-3
    clf = fit(
        uneven,
        sigma=sigma,
        alpha=alpha,
        weight_decay=decay,
        group_weights=group_weights,
        link="probit",
        tol=1e-9,
        max_iter=2000,
    )
    X, y = uneven.X.to_numpy(), uneven.y
    codes = np.array([clf.groups_.index(g) for g in uneven.sensitive_features])
    weights = {"equal": np.ones(2), "share": 2 * np.bincount(codes) / len(codes)}[group_weights]
    inputs = np.column_stack([X, np.ones(len(X))])
    spread = np.sqrt(1 + sigma**2 * (inputs**2).sum(1))

    def objective(flat):
        W = flat.reshape(2, -1)
        value = alpha * ((W[0] - W[1]) ** 2).sum() + decay * (W**2).sum()
        for k in (0, 1):
            rows = codes == k
            scores = ndtr((2 * y[rows] - 1) * (inputs[rows] @ W[k]) / spread[rows])
            value -= weights[k] * np.log(scores).mean()
        return value

    ours = clf.group_parameters_.ravel()
    other = minimize(objective, np.zeros_like(ours), method="BFGS", options={"gtol": 1e-8})
    np.testing.assert_allclose(ours, other.x, atol=2e-5)
    assert objective(ours) <= other.fun + 1e-10


@pytest.mark.parametrize("group_weights", ["equal", "share"])
def test_groups_tied_hard_are_one_weighted_logistic_regression(uneven, group_weights):
    clf = fit(uneven, sigma=0.0, alpha=1e6, group_weights=group_weights, weight_decay=0.0, tol=1e-9)
    _, codes, counts = np.unique(uneven.sensitive_features, return_inverse=True, return_counts=True)
    rows = {"equal": 1.0 / counts[codes], "share": np.ones(len(codes))}[group_weights]
    pooled = LogisticRegression(C=np.inf, tol=1e-10, max_iter=10_000)
    pooled.fit(uneven.X, uneven.y, sample_weight=rows)
    expected = np.append(pooled.coef_, pooled.intercept_)
    np.testing.assert_allclose(clf.parameters_, expected, atol=1e-4)


def test_scores_equal_plain_sampling_of_weights(biased):
    clf = fit(biased, sigma=0.5)
    noise = np.random.default_rng(0).normal(size=(20_000, clf.parameters_.size))
    W = clf.parameters_ + 0.5 * noise
    X = biased.X.iloc[:20]
    sampled = expit(X.to_numpy() @ W[:, :-1].T + W[:, -1])
    standard_error = sampled.std(axis=1) / np.sqrt(sampled.shape[1])
    difference = np.abs(clf.predict_proba(X)[:, 1] - sampled.mean(axis=1))
    assert (difference <= 5 * standard_error).all()


def test_overall_parameters_are_the_average(three_groups):
    clf = fit(three_groups)
    np.testing.assert_allclose(clf.parameters_, clf.group_parameters_.mean(0), rtol=1e-14)
    assert clf.group_parameters_.shape == (3, 5)
    assert len(clf.history_) == clf.n_iter_ > 0


def test_measured_gap_never_exceeds_the_bound(three_groups):
    clf = fit(three_groups, alpha=0.01)
    overall = clf.predict_proba(three_groups.X)[:, 1]
    intervals = clf.predict_interval(three_groups.X)
    assert intervals.shape == (len(overall), 3, 2)
    for k, group in enumerate(clf.groups_):
        own = clf.predict_proba_group(three_groups.X, group)[:, 1]
        assert np.abs(own - overall).max() <= clf.certificate_.epsilon_by_group[group]
        assert ((intervals[:, k, 0] <= own) & (own <= intervals[:, k, 1])).all()


def test_a_stronger_tie_brings_groups_closer(biased):
    distances = [fit(biased, alpha=alpha).certificate_.max_distance for alpha in (0, 0.1, 10)]
    assert distances[0] > distances[1] > distances[2]


def test_without_a_tie_each_group_is_trained_alone(biased):
    """alpha=0 is FairSmooth-S: no group knows of another."""
    together = fit(biased, alpha=0.0, tol=1e-8, max_iter=1000)
    changed = biased.y.copy()
    first = np.asarray(biased.sensitive_features) == together.groups_[0]
    changed[first] = 1 - changed[first]
    other = FairSmoothClassifier(alpha=0.0, tol=1e-8, max_iter=1000)
    other.fit(biased.X, changed, sensitive_features=biased.sensitive_features)
    np.testing.assert_allclose(together.group_parameters_[1], other.group_parameters_[1], atol=1e-4)
    assert together.free_group_parameters_ is None


def test_sigma_zero_is_the_unsmoothed_model_without_certificate(biased):
    clf = fit(biased, sigma=0.0)
    plain = expit(biased.X.to_numpy() @ clf.parameters_[:-1] + clf.parameters_[-1])
    np.testing.assert_allclose(clf.predict_proba(biased.X)[:, 1], plain, atol=1e-12)
    assert clf.certificate_.epsilon == np.inf


def test_free_reference_is_what_alpha_zero_gives(biased):
    tied = fit(biased, alpha=1.0, tol=1e-8, max_iter=1000)
    free = fit(biased, alpha=0.0, tol=1e-8, max_iter=1000)
    np.testing.assert_allclose(tied.free_group_parameters_, free.group_parameters_, atol=1e-4)
    assert fit(biased, free_reference=False).free_group_parameters_ is None


def test_the_paper_s_update_reaches_the_same_minimum(biased):
    exact = fit(biased, alpha=0.5, weight_decay=1e-2, tol=1e-9, max_iter=1000)
    stochastic = fit(
        biased, alpha=0.5, weight_decay=1e-2, solver="sgd", batch_size=32, max_iter=300
    )
    np.testing.assert_allclose(stochastic.parameters_, exact.parameters_, atol=0.15)
    agreement = stochastic.predict(biased.X) == exact.predict(biased.X)
    assert agreement.mean() > 0.97


@UNFINISHED
def test_same_seed_same_model(biased):
    first = fit(biased, solver="sgd", max_iter=3)
    second = fit(biased, solver="sgd", max_iter=3)
    third = fit(biased, solver="sgd", max_iter=3, random_state=1)
    np.testing.assert_array_equal(first.parameters_, second.parameters_)
    assert not np.array_equal(first.parameters_, third.parameters_)


@UNFINISHED
def test_neither_inputs_nor_global_randomness_are_touched(biased):
    X, before = biased.X.copy(), torch.random.get_rng_state()
    state = np.random.get_state()[1].copy()
    fit(biased, solver="sgd", max_iter=2)
    pd.testing.assert_frame_equal(X, biased.X)
    assert torch.equal(before, torch.random.get_rng_state())
    np.testing.assert_array_equal(state, np.random.get_state()[1])


def test_separable_groups_converge_with_weight_decay():
    X = np.linspace(-1, 1, 40).reshape(-1, 1)
    y = (X[:, 0] > 0).astype(int)
    clf = FairSmoothClassifier(weight_decay=1e-3, sigma=0.1)
    clf.fit(X, y, sensitive_features=np.arange(40) % 2)
    assert np.isfinite(clf.parameters_).all()
    assert (clf.predict(X) == y).all()


def test_order_of_rows_is_irrelevant(biased):
    order = np.random.default_rng(0).permutation(len(biased.y))
    first = fit(biased, tol=1e-8, max_iter=1000)
    second = FairSmoothClassifier(tol=1e-8, max_iter=1000).fit(
        biased.X.iloc[order],
        biased.y[order],
        sensitive_features=np.asarray(biased.sensitive_features)[order],
    )
    np.testing.assert_allclose(first.parameters_, second.parameters_, atol=1e-5)


def test_labels_and_groups_of_any_type(biased):
    y = np.where(biased.y == 1, "yes", "no")
    frame = pd.DataFrame({"a": biased.sensitive_features, "b": np.arange(len(y)) % 2 == 0})
    clf = FairSmoothClassifier(max_iter=30).fit(biased.X, y, sensitive_features=frame)
    assert set(clf.predict(biased.X)) <= {"no", "yes"}
    assert len(clf.groups_) == 4
    assert clf.predict_proba_group(biased.X, clf.groups_[0]).shape == (len(y), 2)


def test_threshold_is_respected_and_can_be_chosen(biased):
    strict = fit(biased, threshold=0.9)
    assert strict.predict(biased.X).sum() < fit(biased).predict(biased.X).sum()
    chosen = fit(biased, threshold="accuracy", validation_fraction=0.3)
    assert 0.0 < chosen.threshold_ < 1.0


@UNFINISHED
def test_callback_sees_every_record(biased):
    seen = []
    clf = fit(biased, callback=seen.append, max_iter=5)
    assert tuple(seen) == clf.history_
    assert [record.step for record in seen] == [1, 2, 3, 4, 5]


@UNFINISHED
def test_verbose_prints_to_standard_error(biased, capsys):
    fit(biased, verbose=1, max_iter=2)
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.count("objective") == 2


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"sigma": -0.1}, r"Expected sigma >= 0, got sigma=-0\.1"),
        ({"alpha": -1.0}, "Expected alpha >= 0"),
        ({"link": "cauchit"}, "one of 'logistic', 'probit', got link='cauchit'"),
        ({"solver": "newton"}, "got solver='newton'"),
        ({"center": "median"}, "got center='median'"),
        ({"group_weights": "size"}, "one of 'equal', 'share', got group_weights='size'"),
        ({"parity": "calibration"}, "got parity='calibration'"),
        ({"threshold": 1.5}, "Expected threshold between"),
        ({"threshold": "best"}, "got threshold='best'"),
        ({"hidden_layer_sizes": (0,)}, "Expected hidden_layer_sizes of at least 1"),
        ({"hidden_layer_sizes": (3,), "activation": "sine"}, "got 'sine'"),
        ({"device": "tpu"}, "got 'tpu'"),
        ({"max_iter": 0}, "Expected max_iter > 0"),
    ],
)
def test_refuses_bad_parameters(biased, parameters, message):
    with pytest.raises(InputError, match=message):
        fit(biased, **parameters)


def test_refuses_an_absent_device(biased):
    if torch.cuda.is_available():
        pytest.skip("this machine has a CUDA device")
    with pytest.raises(InputError, match="'cuda', which this machine has not"):
        fit(biased, device="cuda")


def test_refuses_bad_data(biased):
    clf = FairSmoothClassifier()
    X, y, groups = biased.X.to_numpy().copy(), biased.y, biased.sensitive_features
    with pytest.raises(InputError, match="Expected sensitive_features, one label per row"):
        clf.fit(X, y)
    with pytest.raises(InputError, match=r"\(600\), got 599"):
        clf.fit(X, y, sensitive_features=groups[:-1])
    with pytest.raises(GroupError, match="at least 2 groups"):
        clf.fit(X, y, sensitive_features=np.zeros(len(y)))
    with pytest.raises(InputError, match="got 1 class"):
        clf.fit(X, np.ones(len(y)), sensitive_features=groups)
    with pytest.raises(InputError, match="Only binary classification is supported"):
        clf.fit(X, np.arange(len(y)) % 3, sensitive_features=groups)
    X[3, 1] = np.nan
    with pytest.raises(ValueError, match="contains NaN"):
        clf.fit(X, y, sensitive_features=groups)


@UNFINISHED
def test_refuses_an_unknown_group_and_a_missing_reference(biased):
    clf = fit(biased, free_reference=False, max_iter=5)
    with pytest.raises(InputError, match="Expected group to be one of"):
        clf.predict_proba_group(biased.X, "nobody")
    with pytest.raises(InputError, match="free_reference=True"):
        clf.predict_proba_free(biased.X, clf.groups_[0])


def test_intervals_allow_for_the_error_of_a_saturated_score():
    """A score that rounds to 1 must not pin the group's own score to 1."""
    X = np.array([[3.0], [0.0]])
    clf = FairSmoothClassifier(link="probit", sigma=1.0)
    clf.groups_, clf.classes_, clf.threshold_ = ("a", "b"), np.array([0, 1]), 0.5
    clf.n_features_in_ = 1
    clf.set_parameters(Network(1), np.array([[30.0, 0.0], [1.0, 0.0]]))
    own = clf.predict_proba_group(X, "b")[:, 1]
    assert clf.predict_proba(X)[0, 1] == 1.0
    assert own[0] < 0.9
    low, high = clf.predict_interval(X)[:, 1].T
    assert ((low <= own) & (own <= high)).all()


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"sigma": 0.0},
        {"hidden_layer_sizes": (6,), "max_iter": 2},
        {"hidden_layer_sizes": (6,), "max_iter": 2, "smoothing": "layerwise"},
        {"hidden_layer_sizes": (6, 4), "max_iter": 2},
        {"hidden_layer_sizes": (6, 4), "max_iter": 2, "sigma": 0.0},
        {"hidden_layer_sizes": (6, 4), "max_iter": 2, "smoothing": "monte_carlo"},
        {"module": torch.nn.Sequential(torch.nn.Linear(3, 2), torch.nn.Linear(2, 1)),
         "max_iter": 2},
    ],
)  # fmt: skip
@pytest.mark.filterwarnings("ignore:Training:sklearn.exceptions.ConvergenceWarning")
def test_scores_beside_intervals_are_those_of_predict_proba(options):
    data = make_biased(120, 3)
    model = FairSmoothClassifier(random_state=0, free_reference=False, n_draws=64, **options)
    model.fit(data.X, data.y, sensitive_features=data.sensitive_features)
    scores, intervals = model.predict_with_interval(data.X)
    np.testing.assert_array_equal(scores, model.predict_proba(data.X)[:, 1])
    np.testing.assert_array_equal(intervals, model.predict_interval(data.X))


def test_linear_models_have_weights_as_scikit_learn_has_them():
    data = make_biased(n_samples=300, random_state=0)
    clf = FairSmoothClassifier(sigma=0.0).fit(
        data.X, data.y, sensitive_features=data.sensitive_features
    )
    logits = data.X.to_numpy() @ clf.coef_.T + clf.intercept_
    scores = clf.predict_proba(data.X)[:, [1]]
    np.testing.assert_allclose(np.log(scores / (1.0 - scores)), logits, atol=1e-9)
    assert clf.coef_.shape == (1, data.X.shape[1])
    network = FairSmoothClassifier(hidden_layer_sizes=(2,), max_iter=1, random_state=0)
    with pytest.warns(ConvergenceWarning):
        network.fit(data.X, data.y, sensitive_features=data.sensitive_features)
    with pytest.raises(AttributeError, match="Expected a linear model for coef_"):
        _ = network.coef_
    assert not hasattr(network, "intercept_")


@pytest.mark.parametrize("n", [3, 5000])
@pytest.mark.parametrize("bad", [np.nan, np.inf])
@pytest.mark.parametrize("options", [{}, {"link": "probit"}, {"sigma": 0.0}])
def test_rows_that_are_not_finite_are_refused_by_every_prediction(n, bad, options):
    random = np.random.default_rng(0)
    X, group = random.normal(size=(200, 3)), np.resize([0, 1], 200)
    y = (X[:, 0] + random.normal(size=200) > 0).astype(int)
    clf = FairSmoothClassifier(**options).fit(X, y, sensitive_features=group)
    rows = random.normal(size=(n, 3))
    rows[1, 2] = bad
    for ask in (
        clf.predict,
        clf.predict_proba,
        clf.predict_interval,
        lambda rows: clf.predict_proba_group(rows, 0),
    ):
        with pytest.raises(ValueError, match=r"NaN|infinity"):
            ask(rows)
