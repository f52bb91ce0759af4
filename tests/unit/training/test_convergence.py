"""No training ends quietly where it should have gone on."""

import warnings

import numpy as np
import pytest
import torch
from sklearn.exceptions import ConvergenceWarning

from fairsmooth import FairSmoothClassifier, InputError
from fairsmooth.training.convergence import require_finite, still_falling
from fairsmooth.training.linear_pass import Contribution, LinearPass
from fairsmooth.training.stochastic import Schedule


def fit(data, *arguments, **parameters):
    clf = FairSmoothClassifier(*arguments, **{"random_state": 0, **parameters})
    return clf.fit(data.X, data.y, sensitive_features=data.sensitive_features)


@pytest.mark.parametrize("share", [0.2, 0.5, 1.0])
def test_an_exponential_fall_is_told_by_how_much_of_it_is_left(share):
    """Of ``exp(-t)`` up to ``t = T``, a share ``exp(-T)`` is left undone."""
    steps = np.arange(400) / 400
    assert still_falling(list(np.exp(-steps * 8.0 * share))) is None or share < 0.5
    assert still_falling(list(np.exp(-steps * share))) is not None


def test_noise_alone_is_no_fall():
    random = np.random.default_rng(0)
    warned = [still_falling(list(random.normal(size=200))) is not None for _ in range(300)]
    # One-sided at two standard errors, with whatever the first value adds to the whole fall.
    assert np.mean(warned) < 0.05


def test_a_fall_is_seen_through_noise():
    random = np.random.default_rng(0)
    assert still_falling(list(10.0 - np.arange(400) / 40 + random.normal(size=400))) is not None


def test_three_steps_are_too_few():
    assert still_falling([3.0, 2.0, 1.0]) == "3 steps are too few to tell"


def test_what_a_training_continues_counts_as_fallen():
    falling = list(1.0 - np.arange(40) / 400)
    assert still_falling(falling) is not None
    assert still_falling(falling, earlier_fall=10.0) is None


def test_lbfgs_says_when_it_stopped_before_its_tolerance(biased):
    with pytest.warns(ConvergenceWarning, match="Training did not converge: after 2 iterations"):
        fit(biased, max_iter=2, free_reference=False)


def test_the_reference_says_so_too(biased):
    with pytest.warns(ConvergenceWarning) as caught:
        fit(biased, max_iter=2, alpha=10.0)
    assert [str(each.message)[:29] for each in caught][1:] == ["The reference without the tie"]


@pytest.mark.parametrize("solver", ["sgd", "adam"])
def test_minibatch_solvers_say_when_the_objective_was_still_falling(biased, solver):
    with pytest.warns(ConvergenceWarning, match="in the last quarter of the steps"):
        fit(biased, (8,), solver=solver, max_iter=40, batch_size=600, free_reference=False)


def test_early_stopping_says_when_it_never_stopped(biased):
    with pytest.warns(ConvergenceWarning, match="still improved within the last 10 of 3 epochs"):
        fit(biased, (4,), max_iter=3, early_stopping=True, free_reference=False)


def test_zero_iterations_are_no_training():
    X, y = np.zeros((40, 2)), np.arange(40) % 2
    clf = FairSmoothClassifier()
    with pytest.warns(ConvergenceWarning, match="no step was taken"):
        clf.fit(X, y, sensitive_features=np.arange(40) // 20)
    assert clf.n_iter_ == 0


def test_noise_that_hides_everything_is_told(biased):
    with pytest.warns(ConvergenceWarning, match="no step was taken"):
        fit(biased, sigma=1e200)


@pytest.mark.parametrize("options", [{}, {"link": "probit"}, {"sigma": 0.0}, {"alpha": 0.0}])
def test_plain_use_is_quiet(biased, options):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fit(biased, **options)


def test_a_tolerance_below_rounding_is_met_as_far_as_numbers_go(biased):
    assert fit(biased, tol=1e-14, max_iter=1000).n_iter_ < 1000


@pytest.mark.parametrize("solver", ["sgd", "adam"])
def test_divergence_is_an_error(biased, solver):
    with pytest.raises(InputError, match="Expected a finite objective and gradient"):
        fit(biased, (4,), solver=solver, sigma=0.0, learning_rate=1e30)


def test_a_gradient_that_is_no_number_is_an_error(biased, monkeypatch):
    def broken(self, parameters):
        lost = np.full(len(parameters), np.nan)
        return Contribution(lost, parameters * np.nan, np.ones(len(parameters)))

    monkeypatch.setattr(LinearPass, "contribution", broken)
    with pytest.raises(InputError, match="got nan in iteration 1: training diverged"):
        fit(biased)


def test_parameters_that_are_no_numbers_are_an_error():
    with pytest.raises(InputError, match=r"got 1\.0 in epoch 3: training diverged"):
        require_finite(torch.tensor(1.0), torch.tensor([np.nan]), where="in epoch 3")


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"tol": float("nan")}, "Expected tol > 0, got tol=nan"),
        ({"parity_tolerance": (float("nan"), 0.0)}, "Expected both parity_tolerance >= 0"),
        ({"parity_tolerance": (0.0, -1.0)}, "Expected both parity_tolerance >= 0"),
        ({"parity_tolerance": 0.1}, "Expected parity_tolerance as two numbers"),
        ({"learning_rate": float("nan")}, "Expected learning_rate > 0"),
        ({"threshold": float("nan")}, "Expected threshold between"),
        ({"sigma": float("nan")}, "Expected sigma >= 0"),
    ],
)
def test_numbers_that_are_none_are_refused(biased, parameters, message):
    with pytest.raises(InputError, match=message):
        fit(biased, parity="both", parity_weight=1.0, **parameters)


@pytest.mark.parametrize("n_groups", [1, 2, 7, 20, 300])
def test_the_steps_of_an_epoch_follow_the_rows_not_the_groups(n_groups):
    schedule = Schedule(epochs=1, batch_size=256, learning_rate=0.1, seed=0)
    assert schedule.steps(10_000) == 40
    visited = schedule.steps(10_000) * n_groups * schedule.rows_of_each(n_groups)
    assert visited >= 10_000


def test_twenty_groups_are_trained_as_well_as_two():
    """With 128 rows of every group in a step, 20 groups had a tenth of the steps of two."""
    random = np.random.default_rng(0)
    X = random.normal(size=(4000, 4))
    y = (X[:, 0] * X[:, 1] + 0.5 * X[:, 2] + 0.3 * random.normal(size=4000) > 0).astype(int)
    options = {"sigma": 0.0, "random_state": 0, "free_reference": False, "learning_rate": 0.02}
    accuracy = {}
    for n_groups in (2, 20):
        clf = FairSmoothClassifier((8,), max_iter=50, **options)
        clf.fit(X, y, sensitive_features=random.integers(0, n_groups, len(X)))
        accuracy[n_groups] = clf.score(X, y)
    assert accuracy[20] > 0.85
    assert abs(accuracy[20] - accuracy[2]) < 0.03
