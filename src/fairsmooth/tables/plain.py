"""What a plain logistic regression would have done on the same rows."""

from fairsmooth.metrics import Audit, audit
from fairsmooth.tables.auditing import AuditedRows, OutOfFold


def plain_audit(rows: AuditedRows) -> Audit | None:
    """Audit a logistic regression on audited rows; None without both labels among them.

    A model file holds no training rows, so every row is scored by a regression that was
    trained on the other half of them.
    """
    found = None if rows.y is None else OutOfFold.of(rows.X, rows.y)
    if found is None:
        return None
    scores = found.probabilities[:, 1]
    return audit(y_true=rows.y, y_score=scores, sensitive_features=rows.sensitive)
