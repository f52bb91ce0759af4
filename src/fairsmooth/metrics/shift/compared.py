"""The classifiers that every curve compares, as columns of scores in [0, 1]."""

from dataclasses import dataclass

import numpy as np

from fairsmooth._types import Floats
from fairsmooth.metrics.own import Bools
from fairsmooth.metrics.scored import EXPECTED, ScoredRows


@dataclass(frozen=True)
class Compared:
    """Scores or decisions of the overall classifier, and what they are compared with.

    Attributes
    ----------
    prefix : str
        Put before the name of a metric: "expected_" for scores, "" for decisions.
    value : ndarray of shape (n,)
        Of the overall classifier.
    own : ndarray of shape (n,) or None
        Of the own classifier of each row's group; None without a certificate.
    slack : ndarray of shape (n,) or None
        The certified bound on ``|value - own|``. For scores it is that of the
        group; for decisions 0 where they are proved to agree, 1 elsewhere.
    reference : ndarray of shape (n,) or None
        Of the reference classifier.
    """

    prefix: str
    value: Floats
    own: Floats | None
    slack: Floats | None
    reference: Floats | None

    def columns(self) -> dict[str, Floats]:
        """Return what there is, by name."""
        named = {
            "value": self.value,
            "own": self.own,
            "slack": self.slack,
            "reference": self.reference,
        }
        return {name: column for name, column in named.items() if column is not None}


def compare(
    scored: ScoredRows, reference: tuple[Floats, Bools] | None = None
) -> tuple[Compared, Compared]:
    """Return decisions and scores, each beside the groups' own and the reference's."""
    reference_scores, reference_decisions = reference or (None, None)
    own = own_decisions = epsilon = doubt = None
    if scored.own_scores is not None and scored.agreed is not None:
        own = scored.own
        assert scored.threshold is not None  # a certified classifier has one
        own_decisions = (own > scored.threshold).astype(np.float64)
        epsilon = scored.epsilons[scored.groups.codes]
        doubt = np.where(scored.agreed, 0.0, 1.0)
    decided = None if reference_decisions is None else reference_decisions.astype(np.float64)
    decisions = scored.decisions.astype(np.float64)
    return (
        Compared("", decisions, own_decisions, doubt, decided),
        Compared(EXPECTED, scored.probabilities, own, epsilon, reference_scores),
    )
