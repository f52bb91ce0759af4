import numpy as np
import pytest

from fairsmooth.data.forecasts.boosting import Boosting, boost
from fairsmooth.data.forecasts.crossfit import Task, cross_fit, deal, refit, staged_log_loss


def noise(n=400, n_classes=2, seed=0):
    random = np.random.default_rng(seed)
    levels = random.integers(0, 50, (n, 5)).astype(np.int16)
    return Task(levels, random.integers(0, n_classes, n), n_classes)


@pytest.mark.parametrize("n_folds", [2, 5, 7])
def test_every_fold_has_its_share_of_every_cell(n_folds):
    cells = np.random.default_rng(0).integers(0, 6, 500)
    folds = deal(cells, n_folds, seed=3)
    counts = np.bincount(folds, minlength=n_folds)
    assert counts.max() - counts.min() <= 1
    for cell in range(6):
        share = np.bincount(folds[cells == cell], minlength=n_folds)
        assert share.max() - share.min() <= 1


def test_folds_depend_on_the_seed_alone():
    cells = np.zeros(50, dtype=int)
    np.testing.assert_array_equal(deal(cells, 5, seed=1), deal(cells, 5, seed=1))
    assert (deal(cells, 5, seed=1) != deal(cells, 5, seed=2)).any()


def test_forecasts_of_a_row_do_not_depend_on_its_own_class():
    """The definition of out of fold: with rounds fixed, turn one label and see nothing move."""
    task = noise()
    folds = deal(task.classes, 4, seed=0)
    how = Boosting(rounds=1, rows_per_leaf=5)
    before = cross_fit(task, folds, how).probabilities(task.levels, folds)
    row = 17
    turned = task.classes.copy()
    turned[row] = 1 - turned[row]
    after = cross_fit(Task(task.levels, turned, 2), folds, how).probabilities(task.levels, folds)
    np.testing.assert_array_equal(before[folds == folds[row]], after[folds == folds[row]])
    assert (before != after).any()


def test_forecasts_of_noise_say_nothing_out_of_fold():
    """In fold, trees learn noise by heart; out of fold the log loss is that of a coin."""
    task = noise(1500)
    folds = deal(task.classes, 5, seed=0)
    how = Boosting(rounds=40, rows_per_leaf=5)
    fitted = cross_fit(task, folds, how)
    unseen = fitted.probabilities(task.levels, folds)[np.arange(1500), task.classes]
    seen = boost(task.levels, task.classes, 2, how).probabilities(task.levels)
    assert -np.log(unseen).mean() == pytest.approx(fitted.log_loss, abs=1e-12)
    assert fitted.log_loss > np.log(2) - 0.01
    assert -np.log(seen[np.arange(1500), task.classes]).mean() < 0.6
    assert fitted.n_rounds <= 3


def test_rounds_are_those_of_the_least_log_loss():
    random = np.random.default_rng(0)
    levels = random.integers(0, 20, (800, 3)).astype(np.int16)
    task = Task(levels, (levels[:, 0] + random.normal(0, 4, 800) > 9).astype(int), 2)
    folds = deal(task.classes, 4, seed=0)
    how = Boosting(rounds=60, leaves=8)
    fitted = cross_fit(task, folds, how)
    losses = sum(
        staged_log_loss(
            boost(levels[folds != k], task.classes[folds != k], 2, how),
            levels[folds == k], task.classes[folds == k], 60,
        )
        for k in range(4)
    )  # fmt: skip
    assert fitted.n_rounds == int(np.argmin(losses)) + 1
    assert 1 < fitted.n_rounds < 60
    assert fitted.log_loss == pytest.approx(losses.min() / 800, rel=1e-12)
    assert refit(task, fitted, how).n_rounds == fitted.n_rounds


def test_staged_log_loss_ends_as_the_forest_does():
    from sklearn.metrics import log_loss

    task = noise(n_classes=3)
    forest = boost(task.levels, task.classes, 3, Boosting(rounds=5))
    losses = staged_log_loss(forest, task.levels, task.classes, 8)
    expected = log_loss(task.classes, forest.probabilities(task.levels), normalize=False)
    np.testing.assert_allclose(losses[4:], expected, rtol=1e-12)


def test_a_group_missing_in_a_fold_is_handled():
    task = noise(300, n_classes=3)
    classes = np.where(task.classes == 2, 0, task.classes)
    classes[5] = 2  # one row only: the fold that has it is forecast by trees that know none such
    folds = deal(classes, 5, seed=0)
    found = cross_fit(Task(task.levels, classes, 3), folds, Boosting(rounds=5))
    probabilities = found.probabilities(task.levels, folds)
    assert np.isfinite(found.log_loss)
    np.testing.assert_allclose(probabilities.sum(axis=1), 1.0)
    assert probabilities.min() > 0.0
