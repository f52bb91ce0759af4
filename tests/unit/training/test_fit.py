import numpy as np
import pytest
import torch

from fairsmooth import FairSmoothClassifier, estimator
from fairsmooth.core.architecture import Network
from fairsmooth.datasets import make_biased
from fairsmooth.exceptions import InputError
from fairsmooth.training.likelihood import choose_likelihood
from fairsmooth.training.problem import Problem

CELLS = {("a", 0): 1, ("a", 1): 2, ("b", 0): 7, ("b", 1): 30}


@pytest.mark.parametrize("fraction", [0.5, 0.9])
def test_holding_out_leaves_every_cell_a_row_to_train_on(monkeypatch, fraction):
    found = []
    train = estimator.train
    monkeypatch.setattr(
        estimator, "train", lambda *a, **b: found.append(train(*a, **b)) or found[-1]
    )
    group = np.repeat([name for name, _ in CELLS], list(CELLS.values()))
    y = np.repeat([label for _, label in CELLS], list(CELLS.values()))
    X = np.random.default_rng(0).normal(size=(len(y), 2))
    clf = FairSmoothClassifier(threshold="accuracy", validation_fraction=fraction, random_state=0)
    clf.fit(X, y, sensitive_features=group)
    held_out = np.zeros(len(y), dtype=bool)
    held_out[found[0].held_out] = True
    for (name, label), count in CELLS.items():
        cell = (group == name) & (y == label)
        assert (held_out & cell).sum() == min(count - 1, round(fraction * count))


def small_third_group():
    """Return rows of which one group has too few to hold any out."""
    data = make_biased(n_samples=400, random_state=0)
    groups, y = np.array(data.sensitive_features, dtype=object), np.array(data.y)
    few = [*np.flatnonzero(y == 0)[:2], *np.flatnonzero(y == 1)[:2]]
    groups[few] = "few"
    return np.asarray(data.X), y, groups


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.filterwarnings("ignore::fairsmooth.exceptions.ParityWarning")
@pytest.mark.parametrize("parity", [None, "both"])
@pytest.mark.parametrize("hidden", [(), (4,)])
def test_early_stopping_is_judged_by_the_groups_that_have_rows_held_out(hidden, parity):
    X, y, groups = small_third_group()
    options = {"solver": "adam", "max_iter": 20, "learning_rate": 0.05, "random_state": 0}
    options |= {"parity": parity, "parity_weight": 0.1 * (parity is not None)}
    clf = FairSmoothClassifier(hidden, early_stopping=True, free_reference=False, **options)
    clf.fit(X, y, sensitive_features=groups)
    most_common = max(np.mean(y), 1.0 - np.mean(y))
    assert clf.score(X, y) > most_common + 0.05  # and not where training began


def test_a_share_that_holds_no_row_out_is_refused():
    X, y, groups = small_third_group()
    for options in ({"early_stopping": True, "solver": "adam"}, {"threshold": "accuracy"}):
        clf = FairSmoothClassifier(validation_fraction=0.0, max_iter=2, **options)
        with pytest.raises(InputError, match=r"rows to hold out .* got none: validation_fraction"):
            clf.fit(X, y, sensitive_features=groups)


def test_a_solver_that_does_not_stop_early_trains_on_all_rows():
    X, y, groups = small_third_group()
    plain, early = (
        FairSmoothClassifier(early_stopping=early, random_state=0).fit(
            X, y, sensitive_features=groups
        )
        for early in (False, True)
    )
    np.testing.assert_array_equal(early.group_parameters_, plain.group_parameters_)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.filterwarnings("ignore::fairsmooth.exceptions.ParityWarning")
@pytest.mark.parametrize("options", [{}, {"solver": "adam", "learning_rate": 0.02}])
@pytest.mark.parametrize("threshold", [0.2, 0.5])
def test_the_parity_term_looks_at_decisions_where_they_are_made(threshold, options):
    rng = np.random.default_rng(0)
    groups = rng.integers(0, 2, size=600)
    X = rng.normal(size=(600, 3))
    X[:, 0] *= 1.0 + 2.0 * groups  # rates may agree at one threshold alone
    y = (X.sum(1) + rng.logistic(size=600) > 1.0).astype(int)
    clf = FairSmoothClassifier(
        threshold=threshold, parity="demographic_parity", parity_weight=30.0, sigma=0.3,
        batch_size=1200, free_reference=False, random_state=0, **options,
    )  # fmt: skip
    clf.fit(X, y, sensitive_features=groups)
    assert clf.parity_gaps_.surrogate["demographic_parity"] < 0.02


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize(
    ("smoothing", "off"),
    [("auto", 1e-5), ("exact", 1e-5), ("layerwise", 0.04), ("monte_carlo", 0.04)],
)
def test_lbfgs_reports_the_objective_of_a_network_that_is_true(smoothing, off):
    rng = np.random.default_rng(0)
    X, groups = rng.normal(size=(200, 3)), np.arange(200) % 2
    y = (np.abs(X[:, 0]) + X[:, 1] + 0.4 * rng.logistic(size=200) > 0.8).astype(int)
    clf = FairSmoothClassifier(
        (6,), sigma=0.3, solver="lbfgs", smoothing=smoothing, max_iter=150, weight_decay=1e-4,
        free_reference=False, random_state=0,
    )  # fmt: skip
    clf.fit(X, y, sensitive_features=groups)
    exact = choose_likelihood(Network(3, (6,)), sigma=0.3, link="logistic", smoothing="exact")
    problem = Problem(exact, alpha=0.25, weight_decay=1e-4)
    rows = [torch.tensor(X[groups == k]) for k in (0, 1)]
    labels = [torch.tensor(y[groups == k]).double() for k in (0, 1)]
    with torch.no_grad():
        true = problem.terms(torch.tensor(clf.group_parameters_), problem.ragged(rows, labels))
    assert clf.history_[-1].objective == pytest.approx(true.objective.item(), abs=off)
