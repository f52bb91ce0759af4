"""The same model with another threshold."""

import copy
import warnings
from dataclasses import replace
from typing import TYPE_CHECKING

from fairsmooth import _validate

if TYPE_CHECKING:
    from fairsmooth.tables.model import TableModel


def checked_threshold(model: "TableModel", threshold: float | None) -> float:
    """Return the threshold to decide by, the model's if none is given.

    Another one than the model's is not what a guarantee of its gaps speaks of, and a warning
    says so.
    """
    own = model.classifier.threshold_
    if threshold is None:
        return own
    _validate.in_range(0.0, 1.0, threshold=threshold)
    if model.guarantee is not None and threshold != own:
        warnings.warn(
            f"The guarantee of the gaps is of decisions above {own:g}; these are above "
            f"{threshold:g}, and nothing is guaranteed of them.",
            UserWarning,
            stacklevel=3,
        )
    return threshold


def with_threshold(model: "TableModel", threshold: float) -> "TableModel":
    """Return a model that decides positive above another score; this one stays as it is.

    Scores, intervals and certificate do not depend on a threshold. Decisions do, so a
    guarantee of the gaps, which is about decisions, is dropped, with a warning, and so is
    the audit of the rows held out at training.
    """
    _validate.in_range(0.0, 1.0, threshold=threshold)
    rule = model.classifier.rule_
    if model.guarantee is not None and threshold != rule.threshold:
        warnings.warn(
            f"The guarantee of the gaps was of decisions above {rule.threshold:g}; above "
            f"{threshold:g} nothing is guaranteed, so it is dropped. Guarantee the new decisions "
            "on rows that were not used yet.",
            UserWarning,
            stacklevel=2,
        )
    classifier = copy.copy(model.classifier)
    classifier.threshold = float(threshold)
    classifier.rule_ = replace(rule, threshold=float(threshold))
    kept = model.guarantee if threshold == rule.threshold else None
    return replace(model, classifier=classifier, guarantee=kept, measured=None)
