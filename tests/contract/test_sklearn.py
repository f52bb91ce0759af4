"""What scikit-learn users rely on: the estimator checks, and composition with routing."""

import numpy as np
import pytest
import sklearn
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from fairsmooth import FairSmoothClassifier

# Some of scikit-learn's data cannot be separated in 50 iterations, which is not their point.
pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


class WithGroups(FairSmoothClassifier):
    """Supplies groups, because scikit-learn's checks know nothing of them."""

    def fit(self, X, y, *, sensitive_features=None, sample_weight=None):
        if sensitive_features is None:
            sensitive_features = self._alternating(X, y)
        return super().fit(X, y, sensitive_features=sensitive_features, sample_weight=sample_weight)

    @staticmethod
    def _alternating(X, y):
        """Take a digit of the row, so that a row given twice has one group; else alternate."""
        if y is None:
            return None
        labels = np.asarray(y).ravel()
        digits = _digits(X.toarray() if hasattr(X, "toarray") else np.asarray(X))
        if len(digits) == len(labels) and _both_in_each(labels, digits):
            return digits
        groups = np.empty(len(labels), dtype=int)
        for label in set(labels.tolist()):
            rows = np.flatnonzero(labels == label)
            groups[rows] = np.arange(len(rows)) % 2
        return groups


def _digits(rows):
    if rows.ndim != 2 or rows.dtype.kind != "f" or not np.isfinite(rows).all():
        return np.empty(0)
    return np.round(1000 * rows.sum(axis=1)) % 2


def _both_in_each(labels, groups):
    cells = {(label, group) for label, group in zip(labels.tolist(), groups, strict=True)}
    return len(cells) == 2 * len(set(labels.tolist()))


@parametrize_with_checks([WithGroups(max_iter=50, random_state=0)])
def test_estimator_checks(estimator, check):
    check(estimator)


@pytest.fixture
def routing():
    with sklearn.config_context(enable_metadata_routing=True):
        yield


def test_pipeline_passes_groups_on(biased, routing):
    classifier = FairSmoothClassifier(max_iter=30).set_fit_request(sensitive_features=True)
    pipeline = make_pipeline(StandardScaler(), classifier)
    pipeline.fit(biased.X, biased.y, sensitive_features=biased.sensitive_features)
    assert pipeline.score(biased.X, biased.y) > 0.6
    assert len(pipeline[-1].groups_) == 2


def test_cross_val_score_with_routing(biased, routing):
    classifier = FairSmoothClassifier(max_iter=30).set_fit_request(sensitive_features=True)
    scores = cross_val_score(
        classifier,
        biased.X,
        biased.y,
        cv=3,
        params={"sensitive_features": biased.sensitive_features},
    )
    assert (scores > 0.6).all()


def test_grid_search_with_routing(biased, routing):
    classifier = FairSmoothClassifier(max_iter=30).set_fit_request(sensitive_features=True)
    search = GridSearchCV(classifier, {"alpha": [0.0, 1.0]}, cv=2)
    search.fit(biased.X, biased.y, sensitive_features=biased.sensitive_features)
    assert search.best_params_["alpha"] in (0.0, 1.0)


def test_clone_keeps_parameters_and_forgets_the_fit(biased):
    fitted = FairSmoothClassifier(sigma=0.5, max_iter=20)
    fitted.fit(biased.X, biased.y, sensitive_features=biased.sensitive_features)
    copy = clone(fitted)
    assert copy.get_params() == fitted.get_params()
    assert not hasattr(copy, "certificate_")
