import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression

from fairsmooth import FairSmoothClassifier, InputError
from fairsmooth.core.rows import DenseRows
from fairsmooth.exceptions import ScaleWarning
from fairsmooth.training.scales import check_scales


def five_columns(scale, count=1, n=2000):
    random = np.random.default_rng(0)
    X = random.normal(size=(n, 5))
    y = (X @ [1.0, -1.0, 1.0, 0.5, 1.0] + random.logistic(size=n) > 0).astype(int)
    X[:, :count] *= scale
    return X, y, random.integers(0, 2, n)


def test_a_column_in_large_units_is_named_with_the_remedy():
    X, y, groups = five_columns(1e5)
    frame = pd.DataFrame(X, columns=["income", "b", "c", "d", "e"])
    with pytest.warns(ScaleWarning, match="column 'income' has values near .*Standardise"):
        clf = FairSmoothClassifier().fit(frame, y, sensitive_features=groups)
    plain = LogisticRegression(max_iter=5000).fit(X, y).score(X, y)
    # What is warned of is real, and standardising is what helps.
    assert clf.score(frame, y) < plain - 0.1
    standard = X / X.std(axis=0)
    better = FairSmoothClassifier().fit(standard, y, sensitive_features=groups)
    assert better.score(standard, y) > plain - 0.01


def test_one_scale_for_all_columns_is_fine():
    """Noise and signal grow together, so the solver alone has to cope, and does."""
    X, y, groups = five_columns(1e5, count=5)
    clf = FairSmoothClassifier().fit(X, y, sensitive_features=groups)
    assert clf.score(X, y) > LogisticRegression().fit(X / 1e5, y).score(X / 1e5, y) - 0.01


@pytest.mark.parametrize("scale", [1e-4, 1e5])
def test_without_noise_units_do_not_matter(scale):
    X, y, groups = five_columns(scale)
    options = {"sigma": 0.0, "alpha": 0.0, "weight_decay": 0.0}
    clf = FairSmoothClassifier(**options).fit(X, y, sensitive_features=groups)
    plain = LogisticRegression().fit(X / X.std(axis=0), y).score(X / X.std(axis=0), y)
    assert clf.score(X, y) > plain - 0.005


def test_little_noise_does_not_drown_a_large_column():
    X, y, groups = five_columns(100.0)
    clf = FairSmoothClassifier(sigma=0.01).fit(X, y, sensitive_features=groups)
    assert clf.score(X, y) > LogisticRegression(max_iter=1000).fit(X, y).score(X, y) - 0.01


def test_indicators_however_rare_have_the_scale_1():
    X = np.zeros((1000, 2))
    X[0, 0], X[:, 1] = 1.0, np.linspace(-3, 3, 1000)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_scales(DenseRows(X), None, sigma=5.0)
        check_scales(DenseRows(np.zeros((3, 2))), None, sigma=5.0)


def test_several_loud_columns_are_counted():
    X, _, _ = five_columns(1e3, count=3)
    with pytest.warns(ScaleWarning, match=r"column \d and 2 more has values"):
        check_scales(DenseRows(X), None, sigma=1.0)


def test_a_column_that_overflows_is_an_error():
    X, y, groups = five_columns(1e200)
    with pytest.raises(InputError, match=r"up to 1e\+15, got .*e\+200 in column 0\. Standardise"):
        FairSmoothClassifier().fit(X, y, sensitive_features=groups)
