"""Some rows, drawn at random: how far their score is from that of their group's own classifier."""

from collections.abc import Hashable
from dataclasses import dataclass

import numpy as np

from fairsmooth._random import numpy_generator
from fairsmooth.metrics.auditing.score_counts import FEWEST
from fairsmooth.metrics.scored import ScoredRows

MOST_ROWS = 300


@dataclass(frozen=True)
class GapSample:
    """Scores and measured gaps of a few rows of every group with ten people or more.

    Attributes
    ----------
    groups : tuple
        The group of every drawn row.
    scores : tuple of float
        The overall score, rounded to four digits.
    gaps : tuple of float
        How far it is from the score of the row's own group's classifier. The largest gap of
        every group is among them.
    """

    groups: tuple[Hashable, ...]
    scores: tuple[float, ...]
    gaps: tuple[float, ...]


def gap_sample(scored: ScoredRows, *, random_state: int) -> GapSample | None:
    """Draw rows evenly over the groups; None for a classifier without a certificate."""
    if scored.own_scores is None or scored.scores is None:
        return None
    gaps = np.abs(scored.scores - scored.own)
    draw = numpy_generator(random_state, "audit", "gap sample")
    share = max(1, MOST_ROWS // len(scored.groups.labels))
    groups, rows = [], []
    for group, members in zip(scored.groups.labels, scored.members, strict=True):
        if len(members) < FEWEST:
            continue
        drawn = draw.permutation(members)[: share - 1]
        chosen = sorted({*drawn.tolist(), int(members[gaps[members].argmax()])})
        rows += chosen
        groups += [group] * len(chosen)
    rounded = np.round(scored.scores[rows], 4)
    return GapSample(tuple(groups), tuple(rounded.tolist()), tuple(gaps[rows].tolist()))
