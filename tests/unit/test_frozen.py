"""What is set after ``fit`` takes effect at the next ``fit``, not before."""

import copy

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from fairsmooth import FairSmoothClassifier, InputError, certify
from fairsmooth.core.architecture import Network
from fairsmooth.core.rule import FittedRule

CHANGES = [
    {"sigma": 2.0},
    {"sigma": 0.0},
    {"link": "probit"},
    {"smoothing": "monte_carlo"},
    {"n_draws": 1},
    {"center": "ball"},
    {"threshold": 0.9},
    {"hidden_layer_sizes": (3,)},
    {"activation": "tanh"},
    {"device": "cuda"},
    {"alpha": 7.0},
]


@pytest.fixture(scope="module")
def fitted(three_groups):
    clf = FairSmoothClassifier(sigma=0.3, alpha=0.05, random_state=0)
    return clf.fit(three_groups.X, three_groups.y, sensitive_features=three_groups.groups.codes)


@pytest.mark.parametrize("change", CHANGES, ids=str)
@pytest.mark.parametrize("by", ["attribute", "set_params"])
def test_a_change_after_fit_moves_nothing(fitted, three_groups, change, by):
    clf, X = copy.deepcopy(fitted), three_groups.X
    if by == "set_params":
        clf.set_params(**change)
    else:
        ((name, value),) = change.items()
        setattr(clf, name, value)
    np.testing.assert_array_equal(clf.predict_proba(X), fitted.predict_proba(X))
    np.testing.assert_array_equal(clf.predict(X), fitted.predict(X))
    assert clf.certificate_ == fitted.certificate_
    low, high = np.moveaxis(clf.predict_interval(X), 2, 0)
    own = np.column_stack([clf.predict_proba_group(X, g)[:, 1] for g in clf.groups_])
    assert ((low <= own) & (own <= high)).all()


def test_a_change_takes_effect_at_the_next_fit(three_groups):
    clf = FairSmoothClassifier(sigma=0.3, random_state=0)
    codes = three_groups.groups.codes
    clf.fit(three_groups.X, three_groups.y, sensitive_features=codes)
    clf.sigma, clf.threshold = 2.0, 0.7
    clf.fit(three_groups.X, three_groups.y, sensitive_features=codes)
    assert clf.certificate_.sigma == clf.rule_.sigma == 2.0
    assert clf.threshold_ == 0.7


@pytest.mark.parametrize("name", ["parameters_", "group_parameters_", "free_group_parameters_"])
def test_fitted_arrays_can_neither_be_edited_nor_replaced(fitted, name):
    assert getattr(fitted, name).flags.c_contiguous
    with pytest.raises(ValueError, match="read-only"):
        getattr(fitted, name)[0] = 0.0
    with pytest.raises(AttributeError):
        setattr(fitted, name, np.zeros(3))


def test_the_threshold_of_a_fitted_model_stays(fitted):
    with pytest.raises(AttributeError, match="Expected threshold_ to stay as it was when fitted"):
        fitted.threshold_ = 0.9


def test_the_certificate_is_that_of_the_parameters(fitted):
    again = certify(fitted.group_parameters_, sigma=0.3, groups=fitted.groups_)
    assert fitted.certificate_ == again


def test_parameters_can_be_installed_in_an_unfitted_estimator():
    clf = FairSmoothClassifier(sigma=0.5, link="probit", center="ball", threshold=0.25)
    clf.groups_, clf.classes_, clf.n_features_in_ = ("a", "b", "c"), np.array([0, 1]), 1
    installed = np.array([[1.0, 0.0], [2.0, 0.0], [2.0, 1.0]])
    clf.set_parameters(Network(1), installed, free_group_parameters=installed + 1.0)
    assert clf.threshold_ == 0.25
    assert clf.certificate_ == certify(installed, sigma=0.5, groups=("a", "b", "c"), center="ball")
    installed[:] = 9.0
    assert clf.group_parameters_[0, 0] == 1.0
    assert clf.predict([[1.0]]).shape == (1,)
    other = FairSmoothClassifier()
    other.groups_, other.threshold_ = ("a", "b"), 0.75
    assert other.set_parameters(Network(1), installed[:2]).threshold_ == 0.75


def test_a_training_that_fails_leaves_no_model(three_groups):
    clf = FairSmoothClassifier()
    codes = three_groups.groups.codes
    clf.fit(three_groups.X, three_groups.y, sensitive_features=codes)
    clf.sigma = -1.0
    with pytest.raises(InputError, match="sigma"):
        clf.fit(three_groups.X, three_groups.y, sensitive_features=codes)
    with pytest.raises(NotFittedError):
        clf.predict(three_groups.X)
    assert not hasattr(clone(clf), "parameters_")


def test_predicting_scores_the_rows_once(fitted, three_groups, monkeypatch):
    calls, plain = [], FittedRule.scores

    def counted(self, X, parameters):
        calls.append(len(X))
        return plain(self, X, parameters)

    monkeypatch.setattr(FittedRule, "scores", counted)
    fitted.predict(three_groups.X)
    assert calls == [len(three_groups)]


def test_plain_rows_skip_the_checks_and_others_do_not(three_groups):
    X = three_groups.X.to_numpy()
    clf = FairSmoothClassifier().fit(
        X, three_groups.y, sensitive_features=three_groups.groups.codes
    )
    assert clf._is_plain(X[:1].copy())
    for unusual in (X[:1].tolist(), X[:1].astype(np.float32), X[0], X[:, :2], X[:0], X[::2]):
        assert not clf._is_plain(unusual)
    with pytest.raises(ValueError, match="contains NaN"):
        clf.predict(np.full((1, X.shape[1]), np.nan))
    with pytest.raises(ValueError, match="features"):
        clf.predict(X[:1, :2].copy())
    named = FairSmoothClassifier().fit(
        three_groups.X, three_groups.y, sensitive_features=three_groups.groups.codes
    )
    with pytest.warns(UserWarning, match="does not have valid feature names"):
        named.predict(X[:1])
