"""Counts of people by score, coarse where there are few, for looking at other thresholds."""

import math
from bisect import bisect_left
from collections.abc import Hashable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fairsmooth._types import Floats
from fairsmooth.metrics.scored import ScoredRows

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
    at_most = _at_most(scored, scores, grid)
    for group, by_label in zip(scored.groups.labels, at_most, strict=True):
        parts: list[tuple[int | None, NDArray[np.intp]]] = [(1, by_label[1]), (0, by_label[0])]
        # Not parted by label where that would single out a few people.
        if scored.y is None or by_label[:, -1].min() < FEWEST:
            parts = [(None, by_label.sum(axis=0))]
        cells += [_cell(group, label, part.tolist(), used) for label, part in parts]
    return ScoreCounts(tuple(grid.tolist()), used, tuple(cells))


def _at_most(scored: ScoredRows, scores: Floats, grid: Floats) -> NDArray[np.intp]:
    """Count, by group and label, who scores at most each threshold; the last are all."""
    shape = len(scored.groups.labels), 2, len(grid) + 1
    rising = np.argsort(scores)
    # A score is selected where it exceeds the threshold, so an edge belongs to what is below.
    edges = np.searchsorted(scores[rising], grid, side="right")
    steps = np.repeat(np.arange(shape[2]), np.diff(edges, prepend=0, append=len(scores)))
    cells = 2 * scored.groups.codes + (0 if scored.y is None else scored.y)
    counts = np.bincount(cells[rising] * shape[2] + steps, minlength=math.prod(shape))
    return np.cumsum(counts.reshape(shape), axis=-1)


def _cell(group: Hashable, label: int | None, at_most: list[int], used: int) -> ScoreCell:
    *below, rows = at_most
    if rows < FEWEST:
        return ScoreCell(group, label, 0, (), ())
    # The classifier's own threshold is kept as an edge wherever it can be.
    if FEWEST <= below[used] <= rows - FEWEST:
        edges = [*_edges(below[:used], 0, below[used]), used]
        edges += [*_edges(below, below[used], rows, after=used)]
    else:
        edges = [*_edges(below, 0, rows)]
    return ScoreCell(group, label, rows, tuple(edges), tuple(rows - below[e] for e in edges))


def _edges(below: list[int], last: int, end: int, *, after: int = -1) -> Iterator[int]:
    """Yield positions between which, and up to the end, ten people or more are counted."""
    while (after := bisect_left(below, last + FEWEST, after + 1)) < len(below):
        last = below[after]
        if end - last < FEWEST:
            return
        yield after
