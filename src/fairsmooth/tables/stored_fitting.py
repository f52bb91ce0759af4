"""Training of a table that stays in its files."""

import time
from collections.abc import Callable
from typing import Any

from fairsmooth.data.files.stored import StoredTable
from fairsmooth.data.roles import Roles
from fairsmooth.estimator import FairSmoothClassifier
from fairsmooth.tables.checkpoint import Checkpoint, kept
from fairsmooth.tables.columns import NUMERIC
from fairsmooth.tables.fitted import Fitted
from fairsmooth.tables.stored_parts import StoredParts

Step = Callable[[str], None]


def can_stay_stored(columns: Any, classifier: FairSmoothClassifier) -> bool:
    """Tell whether a training can leave its table in files: not where it spells rows out."""
    return columns in NUMERIC and classifier.parity_solver != "decisions"


def fit_stored(
    table: StoredTable,
    roles: Roles,
    *,
    classifier: FairSmoothClassifier,
    columns: str = "auto",
    test_size: float = 0.3,
    seed: int = 0,
    strict: bool = False,
    checkpoint: Checkpoint | None = None,
    step: Step = lambda text: None,
    done: Callable[[int], None] = lambda rows: None,
) -> Fitted:
    """Do what :func:`fairsmooth.tables.fitting.fit_table` does, with a column in memory at most.

    The model is the same to the last bit.
    """
    began = time.perf_counter()
    step("learning the columns")
    options: dict[str, Any] = {"columns": columns, "test_size": test_size, "seed": seed}
    options["strict"] = strict
    parts = StoredParts.of(table, roles, **options, done=done)
    step("training")
    with kept(checkpoint, classifier, parts, **options):
        classifier.fit(parts.X, parts.y, sensitive_features=parts.sensitive)
    step("auditing")
    rest = parts.audited_beside()
    del parts  # training rows keep labels, groups and places, which an audit does not need
    return rest.fitted(classifier, began)
