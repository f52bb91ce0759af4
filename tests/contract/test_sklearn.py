"""What scikit-learn users rely on: the estimator checks, and composition with routing."""

import numpy as np
import pytest
import sklearn
from scipy.sparse import csr_array
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
            sensitive_features = self._alternating(y)
        return super().fit(X, y, sensitive_features=sensitive_features, sample_weight=sample_weight)

    @staticmethod
    def _alternating(y):
        if y is None:
            return None
        labels = np.asarray(y).ravel()
        groups = np.empty(len(labels), dtype=int)
        for label in set(labels.tolist()):
            rows = np.flatnonzero(labels == label)
            groups[rows] = np.arange(len(rows)) % 2
        return groups


# The check makes three classes two by the label of the first row, before and after a shuffle: one
# class against the rest here, another one there. The test below does what it is meant to do.
_UNEQUAL = "the check gives two fits of a binary classifier different labels"
EXPECTED = {
    f"check_sample_weight_equivalence_on_{kind}_data": _UNEQUAL for kind in ("dense", "sparse")
}


@parametrize_with_checks(
    [WithGroups(max_iter=50, random_state=0)], expected_failed_checks=lambda _: EXPECTED
)
def test_estimator_checks(estimator, check):
    check(estimator)


@pytest.mark.parametrize("form", [np.asarray, csr_array])
@pytest.mark.parametrize("options", [{}, {"link": "probit", "group_weights": "share"}])
def test_a_weight_is_a_row_given_so_many_times(form, options):
    random = np.random.RandomState(42)
    X, y, groups = random.rand(60, 8), random.randint(0, 2, 60), np.arange(60) % 3
    weights = random.randint(0, 5, size=60)
    rows = np.repeat(np.arange(60), weights)
    shuffled = random.permutation(60)
    classifier = FairSmoothClassifier(sigma=0.3, tol=1e-9, random_state=0, **options)
    repeated = clone(classifier).fit(form(X[rows]), y[rows], sensitive_features=groups[rows])
    weighted = clone(classifier).fit(
        form(X[shuffled]),
        y[shuffled],
        sensitive_features=groups[shuffled],
        sample_weight=weights[shuffled],
    )
    np.testing.assert_allclose(
        weighted.predict_proba(form(X)), repeated.predict_proba(form(X)), rtol=1e-7
    )
    np.testing.assert_allclose(
        weighted.free_group_parameters_, repeated.free_group_parameters_, atol=1e-5
    )
    unweighted = clone(classifier).fit(form(X), y, sensitive_features=groups)
    assert np.abs(unweighted.group_parameters_ - weighted.group_parameters_).max() > 1e-3


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
