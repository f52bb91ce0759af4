"""A plain logistic regression on the same split: what a user would have without us."""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from scipy.sparse import csr_array
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression

from fairsmooth._types import Labels
from fairsmooth.core.rows import CodedRows
from fairsmooth.core.rows.packing import NO_FEATURE
from fairsmooth.core.rows.unpacked import source_columns
from fairsmooth.estimator import FairSmoothClassifier
from fairsmooth.metrics import Audit, demographic_parity_gap, equalized_odds_gap
from fairsmooth.metrics.own import take

# Gaps of two models on the same rows differ by this much without meaning anything.
_MARGIN = 0.02
# Enough rows to learn from for gaps to be known better than that.
_MOST_ROWS = 50_000


def comparison_notes(
    classifier: FairSmoothClassifier,
    audit: Audit,
    train: tuple[Any, Labels, str],
    test: tuple[Any, Labels, Any],
) -> list[str]:
    """Say where a gap is larger than that of a plain logistic regression on the same split.

    ``train`` are rows, labels and words as :func:`comparable` gives them.
    """
    X_test, y_test, sensitive = test
    if len(audit.groups) < 2:
        return []
    X, y, on = train
    with quietly():
        model = plain_regression().fit(X, y)
    decided = _decisions(model, X_test)
    plain = {
        "demographic_parity": demographic_parity_gap(y_test, decided, sensitive_features=sensitive),
        "equalized_odds_sum": equalized_odds_gap(
            y_test, decided, sensitive_features=sensitive, kind="sum"
        ),
    }
    ours = ((name, audit.find(name)) for name in plain)
    larger = [
        f"{name.replace('_', ' ')} {found.value:.3f} against {plain[name]:.3f}"
        for name, found in ours
        if found is not None and found.value > plain[name] + _MARGIN
    ]
    if not larger:
        return []
    return [
        f"Gaps on the held-out rows are larger than a plain logistic regression's{on}: "
        f"{', '.join(larger)}. {_remedy(classifier)}"
    ]


def _decisions(model: LogisticRegression, X: Any) -> Labels:
    """Return what the regression predicts; coded rows are looked up and not spelt out."""
    if not isinstance(X, CodedRows):
        return np.asarray(model.predict(as_matrix(X)))
    logits = X.logits(np.append(model.coef_[0], model.intercept_))
    return np.asarray(model.classes_[(logits > 0.0).astype(np.intp)])


def comparable(X: Any, y: Labels, order: Any = None) -> tuple[Any, Labels, str]:
    """Return at most so many rows, evenly spaced, and words for it if there are more.

    ``order`` says where the rows of the table are among those given, if not in its order.
    """
    rows: Any = slice(None)
    if len(y) > _MOST_ROWS:
        rows = np.arange(_MOST_ROWS) * len(y) // _MOST_ROWS
    if order is not None:
        rows = order[rows]
    on = f" on {_MOST_ROWS:,} of {len(y):,} rows" if len(y) > _MOST_ROWS else ""
    return as_matrix(take(X, rows)), y[rows], on


def as_matrix(X: Any) -> Any:
    """Return rows as scikit-learn takes them; coded columns stay sparse."""
    if not isinstance(X, CodedRows):
        return np.asarray(X)
    if len(X.number_features):
        return X.tocsr()
    columns = source_columns(X)
    features = np.empty((len(X), len(columns)), dtype=np.int32)
    for at, column in enumerate(columns):
        features[:, at] = column.features[X.codes[:, column.code]]
    # In their order, row after row, as the matrix wants them: nothing is to be sorted.
    used = features != NO_FEATURE
    ends = np.append(0, np.cumsum(np.count_nonzero(used, axis=1)))
    return csr_array((np.ones(ends[-1]), features[used], ends), shape=X.shape)


def _remedy(classifier: FairSmoothClassifier) -> str:
    if classifier.group_weights == "equal":
        return "Small groups weigh as much as large ones; group_weights='share' may help."
    if classifier.parity is None:
        return "parity='both' penalises the gaps."
    return "A larger parity_weight penalises them more."


def plain_regression() -> LogisticRegression:
    """Return the model that a user would begin with."""
    return LogisticRegression(max_iter=1000)


@contextmanager
def quietly() -> Iterator[None]:
    """Fit the comparison without its warnings: it is not the user's model."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        yield
