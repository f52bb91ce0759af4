import sys

import numpy as np
import pytest

from fairsmooth.data.forecasts import boosting
from fairsmooth.data.forecasts.boosting import Boosting, boost, exact
from fairsmooth.data.forecasts.forest import Forest
from fairsmooth.exceptions import FairSmoothError, InputError

BOTH = pytest.mark.parametrize("booster", ["sklearn", "lightgbm"])


def rows(n=500, n_classes=2, seed=0):
    random = np.random.default_rng(seed)
    levels = random.integers(0, 12, (n, 4)).astype(np.int16)
    signal = levels[:, 0] + 3 * (levels[:, 1] > 6) + random.normal(size=n)
    cuts = np.quantile(signal, np.arange(1, n_classes) / n_classes)
    return levels, np.searchsorted(cuts, signal)


def readable(forest, n_classes):
    again = Forest.from_tensors(forest.tensors(), n_features=4, n_classes=n_classes)
    assert again.n_classes == n_classes
    return again


@pytest.mark.parametrize("n_classes", [2, 3, 5])
def test_trees_of_scikit_learn_give_its_probabilities(n_classes):
    from sklearn.ensemble import HistGradientBoostingClassifier

    levels, classes = rows(n_classes=n_classes)
    how = Boosting(rounds=30, leaves=8)
    model = HistGradientBoostingClassifier(
        max_iter=30, max_leaf_nodes=8, learning_rate=0.1, early_stopping=False, random_state=0
    ).fit(levels, classes)
    unseen, _ = rows(seed=1)
    forest = readable(boost(levels, classes, n_classes, how), n_classes)
    np.testing.assert_allclose(
        forest.probabilities(unseen), model.predict_proba(unseen), rtol=0, atol=1e-12
    )


@pytest.mark.parametrize("n_classes", [2, 3])
def test_trees_of_lightgbm_give_its_probabilities(n_classes):
    lightgbm = pytest.importorskip("lightgbm")
    levels, classes = rows(n_classes=n_classes)
    forest = readable(boost(levels, classes, n_classes, Boosting("lightgbm", 30, 8)), n_classes)
    model = lightgbm.LGBMClassifier(
        n_estimators=30, num_leaves=8, learning_rate=0.1, verbosity=-1, deterministic=True,
        force_row_wise=True, seed=0,
    ).fit(levels.astype(float), classes)  # fmt: skip
    unseen, _ = rows(seed=1)
    expected = model.booster_.predict(unseen.astype(float)).reshape(len(unseen), -1)
    found = forest.probabilities(unseen)
    np.testing.assert_allclose(found[:, -1], expected[:, -1], rtol=0, atol=1e-12)


@BOTH
def test_the_same_seed_gives_the_same_forest(booster):
    pytest.importorskip(booster)
    levels, classes = rows()
    first, second = (boost(levels, classes, 2, Boosting(booster, 10)) for _ in range(2))
    np.testing.assert_array_equal(first.nodes, second.nodes)


@BOTH
@pytest.mark.parametrize("present", [(0,), (2,), (0, 3), (1, 2, 3)])
def test_classes_without_rows_are_handled(booster, present):
    pytest.importorskip(booster)
    levels, classes = rows(n_classes=len(present)) if len(present) > 1 else (rows()[0], None)
    own = np.array(present)[classes] if classes is not None else np.full(500, present[0])
    found = readable(boost(levels, own, 4, Boosting(booster, 10)), 4).probabilities(levels)
    absent = [code for code in range(4) if code not in present]
    assert found[:, absent].max() < 0.01
    assert found[:, absent].min() > 0.0
    np.testing.assert_allclose(found.sum(axis=1), 1.0)
    if len(present) > 1:
        assert (found.argmax(axis=1) == own).mean() > 0.7


@pytest.mark.parametrize("only", [0, 1])
def test_one_class_of_two_is_a_constant(only):
    levels, _ = rows()
    found = readable(boost(levels, np.full(500, only), 2, Boosting()), 2).probabilities(levels)
    np.testing.assert_allclose(found[:, only], 1 - 0.5 / 501)


@pytest.mark.parametrize("n_classes", [2, 4])
def test_a_class_that_levels_tell_is_told_for_certain(n_classes):
    levels, _ = rows()
    classes = levels[:, 2] % n_classes
    forest = readable(exact(levels, classes, n_classes, [2]), n_classes)
    found = forest.probabilities(levels)
    np.testing.assert_array_equal(found.argmax(axis=1), classes)
    assert found.max(axis=1).min() == 1.0
    assert np.sort(found, axis=1)[:, :-1].max() < 1e-25


def test_a_class_that_levels_do_not_tell_has_no_exact_forest():
    levels, classes = rows()
    assert exact(levels, classes, 2, [3]) is None


@pytest.mark.parametrize(
    ("settings", "match"),
    [
        ({"booster": "xgboost"}, "Expected booster to be one of 'sklearn', 'lightgbm'"),
        ({"rounds": 0}, "Expected rounds between 1 and 10000, got rounds=0"),
        ({"leaves": 1}, "Expected leaves between 2 and 1000"),
        ({"learning_rate": 0.0}, "Expected learning_rate between"),
        ({"rows_per_leaf": 0}, "Expected rows_per_leaf between"),
    ],
)
def test_settings_that_no_library_takes(settings, match):
    with pytest.raises(InputError, match=match):
        Boosting(**settings).check()


def test_without_lightgbm_it_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "lightgbm", None)
    with pytest.raises(InputError, match=r"Expected lightgbm .* Install fairsmooth\[forecasts\]"):
        boost(*rows(), 2, Boosting("lightgbm"))


def test_arrays_that_are_not_the_librarys_trees_are_noticed(monkeypatch):
    """A future version of a library may number or store its nodes in another way."""
    honest = boosting.BOOSTERS["sklearn"]

    def changed(levels, classes, how):
        trees, baseline, expected = honest(levels, classes, how)
        trees[3][0][:, boosting.THRESHOLD] += 1
        return trees, baseline, expected

    monkeypatch.setitem(boosting.BOOSTERS, "sklearn", changed)
    with pytest.raises(FairSmoothError, match="the library's own scores, got scores that are off"):
        boost(*rows(), 2, Boosting(rounds=5))
