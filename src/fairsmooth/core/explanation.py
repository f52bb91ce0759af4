"""Why rows have the scores they have: contributions, intervals, and what is proved of decisions."""

from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairsmooth._types import Floats
from fairsmooth.core.attribution import (
    LINEAR_GOAL,
    NETWORK_GOAL,
    attribute,
    completed,
    linear_path,
    network_path,
    one_by_one,
)
from fairsmooth.core.labels import Group
from fairsmooth.core.network import Network
from fairsmooth.core.rule import FittedRule

# What a rule of weights consists of; with anything more its score is another function.
_PLAIN = {
    "architecture", "group_parameters", "parameters", "free_group_parameters", "sigma", "link",
    "smoothing", "n_draws", "center", "threshold", "certificate",
}  # fmt: skip
GRADIENTS, ONE_BY_ONE = "integrated gradients", "one column at a time"


@dataclass(frozen=True)
class Explanation:
    """Explanations of rows.

    Attributes
    ----------
    columns : tuple of str
        Source columns.
    reference_score : float
        Score of the reference row.
    scores : ndarray of shape (n,)
        Scores of the rows.
    contributions : ndarray of shape (n, columns)
        What each column adds: ``reference_score + contributions.sum(axis=1)`` are the scores.
    left_over : float
        The most that quadrature had left over in a row, before it was shared out.
    method : {"integrated gradients", "one column at a time"}
        How contributions were found.
    threshold : float
        Scores above it are decided positive.
    intervals : ndarray of shape (n, K, 2)
        Certified interval of every group's own score.
    groups : tuple
        The groups, in the order of ``intervals``.
    """

    columns: tuple[str, ...]
    reference_score: float
    scores: Floats
    contributions: Floats
    left_over: float
    method: str
    threshold: float
    intervals: Floats
    groups: tuple[Group, ...]

    @property
    def decisions(self) -> NDArray[np.bool_]:
        """Whether the rows are decided positive."""
        return np.asarray(self.scores > self.threshold)

    @property
    def agrees(self) -> NDArray[np.bool_]:
        """Whether each group's own classifier is proved to decide alike, of shape (n, K)."""
        low, high = self.intervals[..., 0], self.intervals[..., 1]
        return np.where(self.decisions[:, None], low > self.threshold, high <= self.threshold)


def explain(
    rule: FittedRule, X: Floats, reference: Floats, columns: tuple[str, ...]
) -> Explanation:
    """Explain rows; ``columns`` names the source of every feature."""
    names = tuple(dict.fromkeys(columns))
    place = {name: position for position, name in enumerate(names)}
    owner = np.array([place[name] for name in columns])
    scores, intervals = rule.scores_and_intervals(X)
    at_reference = float(rule.scores(reference[None, :], rule.parameters)[0])
    difference = scores - at_reference
    path = _path(rule, reference)
    if path is not None:
        linear = not getattr(rule.architecture, "hidden_layer_sizes", ())
        found = attribute(path, X, difference, goal=LINEAR_GOAL if linear else NETWORK_GOAL)
        contributions = np.zeros((len(X), len(names)))
        np.add.at(contributions.T, owner, found.contributions.T)
        left_over = float(np.abs(found.left_over).max(initial=0.0))
    else:
        blocks = [np.flatnonzero(owner == position).tolist() for position in range(len(names))]
        contributions = one_by_one(
            lambda rows: rule.scores(rows, rule.parameters), X, reference, blocks
        )
        lacking = difference - contributions.sum(axis=1)  # a sampled score has few digits
        contributions = completed(contributions, lacking)
        left_over = float(np.abs(lacking).max(initial=0.0))
    return Explanation(
        columns=names,
        reference_score=at_reference,
        scores=scores,
        contributions=contributions,
        left_over=left_over,
        method=GRADIENTS if path is not None else ONE_BY_ONE,
        threshold=rule.threshold,
        intervals=intervals,
        groups=tuple(rule.certificate.groups),
    )


def _path(rule: FittedRule, reference: Floats) -> Any:
    """Return the way to integrate gradients, or None where the score has none that is exact."""
    network = rule.architecture
    more = any(
        getattr(rule, entry.name) is not None for entry in fields(rule) if entry.name not in _PLAIN
    )
    exact = rule.smoothing in ("auto", "exact") and isinstance(network, Network)
    if more or not exact or len(getattr(network, "hidden_layer_sizes", ())) > 1:
        return None
    assert isinstance(network, Network)
    if not network.hidden_layer_sizes:
        return linear_path(rule.parameters, reference, sigma=rule.sigma, link=rule.link)
    return network_path(network, rule.parameters, reference, sigma=rule.sigma, link=rule.link)
