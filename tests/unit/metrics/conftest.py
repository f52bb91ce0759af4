from types import SimpleNamespace

import numpy as np
import pytest
from scipy.special import ndtr

from fairsmooth.core.certificate import certify


class ProbitModel:
    """Linear probit classifiers with given parameters, smoothed in closed form."""

    classes_ = np.array([0, 1])
    alpha = 0.25

    def __init__(self, group_parameters, *, sigma, groups, free=None, threshold=0.5):
        self.group_parameters_ = np.asarray(group_parameters, dtype=float)
        self.free_group_parameters_ = free
        self.sigma, self.groups_, self.threshold_ = sigma, tuple(groups), threshold
        self.certificate_ = certify(self.group_parameters_, sigma=sigma, groups=self.groups_)

    def _probabilities(self, X, parameters):
        rows = np.column_stack([np.asarray(X, dtype=float), np.ones(len(X))])
        spread = np.sqrt(1 + self.sigma**2 * (rows**2).sum(axis=1))
        scores = ndtr(rows @ parameters / spread)
        return np.column_stack([1 - scores, scores])

    def predict_proba(self, X):
        return self._probabilities(X, self.group_parameters_.mean(axis=0))

    def predict(self, X):
        return self.classes_[(self.predict_proba(X)[:, 1] > self.threshold_).astype(int)]

    def predict_interval(self, X):
        scores = self.predict_proba(X)[:, 1]
        intervals = [self.certificate_.interval(scores, group) for group in self.groups_]
        return np.stack(intervals, axis=1)

    def predict_proba_group(self, X, group):
        return self._probabilities(X, self.group_parameters_[self.groups_.index(group)])

    def predict_proba_free(self, X, group):
        return self._probabilities(X, self.free_group_parameters_[self.groups_.index(group)])


@pytest.fixture
def probit_model():
    return ProbitModel


@pytest.fixture
def case():
    """A model of two groups, with rows drawn so that its scores are of some use."""
    return _make_case()


@pytest.fixture(scope="module")
def shared_case():
    """The same, made once for tests that change nothing of it."""
    return _make_case()


def _make_case():
    rng = np.random.default_rng(3)
    parameters = np.array([[1.0, 0.5, -0.2], [0.8, 0.9, 0.1]])
    clf = ProbitModel(parameters, sigma=0.5, groups=("f", "m"), free=parameters * 1.5)
    codes = rng.integers(0, 2, 600)
    X = rng.normal(size=(600, 2)) + 0.4 * codes[:, None]
    y = (X @ [1.0, 0.7] + rng.normal(size=600) > 0).astype(int)
    return SimpleNamespace(clf=clf, X=X, y=y, group=np.array(["f", "m"])[codes])
