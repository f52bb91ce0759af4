"""Counts of people by score, coarse where there are few, for looking at other thresholds."""

from collections.abc import Hashable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fairsmooth._types import Floats, Labels
from fairsmooth.metrics.scored import ScoredRows

Rows = NDArray[np.intp]
# Nobody is to be found among fewer people than this.
FEWEST = 10
N_STEPS = 100


@dataclass(frozen=True)
class ScoreCell:
    """The people of one group with one label, counted by score.

    Attributes
    ----------
    group : label
    label : int or None
        1 or 0; None for everybody in the group, where labels are not known or one of them has
        fewer than ten people.
    rows : int
        People in all; 0 where they are fewer than ten, and then nothing else is told.
    edges : tuple of int
        Where counts are known: positions in ``thresholds``, rising.
    above : tuple of int
        How many score above each of those; any two neighbours differ by ten people or more.
    """

    group: Hashable
    label: int | None
    rows: int
    edges: tuple[int, ...]
    above: tuple[int, ...]

    def range_at(self, position: int) -> tuple[int, int]:
        """Return the least and the largest number that may score above a threshold."""
        known = zip((-1, *self.edges), (self.rows, *self.above), strict=True)
        most = min(count for edge, count in known if edge <= position)
        least = [
            count for edge, count in zip(self.edges, self.above, strict=True) if edge >= position
        ]
        return (max(least) if least else 0), most


@dataclass(frozen=True)
class ScoreCounts:
    """For every group and label, how many people score above each of many thresholds.

    No cell between two known counts holds fewer than ten people: neighbouring ones are merged
    until it does. Between them only a range of counts is known.

    Attributes
    ----------
    thresholds : tuple of float
        Rising; the classifier's own is among them.
    used : int
        The position of the classifier's own.
    cells : tuple of ScoreCell
        Group by group, in the order of the groups.
    """

    thresholds: tuple[float, ...]
    used: int
    cells: tuple[ScoreCell, ...]


def score_counts(scored: ScoredRows) -> ScoreCounts | None:
    """Count scores above 101 thresholds and the classifier's own; None without either."""
    scores = scored.scores if scored.ranking is None else scored.ranking
    if scores is None or scored.threshold is None:
        return None
    low, high = (0.0, 1.0) if scored.scores is not None else (scores.min(), scores.max())
    grid = np.unique(np.append(np.linspace(low, high, N_STEPS + 1), scored.threshold))
    used = int(np.searchsorted(grid, scored.threshold))
    cells = []
    for group, members in zip(scored.groups.labels, scored.members, strict=True):
        for label, chosen in _by_label(members, scored.y).items():
            cells.append(_cell(group, label, scores[chosen], grid, used))
    return ScoreCounts(tuple(map(float, grid)), used, tuple(cells))


def _by_label(members: Rows, y: Labels | None) -> dict[int | None, Rows]:
    """Part a group by label, unless that would single out a few people."""
    if y is not None:
        mine = y[members]
        parts: dict[int | None, Rows] = {label: members[mine == label] for label in (1, 0)}
        if all(len(part) >= FEWEST for part in parts.values()):
            return parts
    return {None: members}


def _cell(group: Hashable, label: int | None, scores: Floats, grid: Floats, used: int) -> ScoreCell:
    if len(scores) < FEWEST:
        return ScoreCell(group, label, 0, (), ())
    # A score is selected where it exceeds the threshold, so an edge belongs to what is below.
    above = len(scores) - np.searchsorted(np.sort(scores), grid, side="right")
    rows = len(scores)
    edges: list[int] = []
    parts: tuple[tuple[range, int | None, int], ...]
    # The classifier's own threshold is kept as an edge wherever it can be.
    if FEWEST <= above[used] <= rows - FEWEST:
        parts = ((range(used), rows, int(above[used])), (range(used, len(grid)), None, 0))
    else:
        parts = ((range(len(grid)), rows, 0),)
    for positions, start, end in parts:
        last = start
        for position in positions:
            count = int(above[position])
            if last is None or (last - count >= FEWEST and count - end >= FEWEST):
                edges.append(position)
                last = count
    return ScoreCell(group, label, rows, tuple(edges), tuple(int(above[e]) for e in edges))
