"""Boosted trees as plain arrays, whichever library grew them, and the one way to evaluate them."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairsmooth._types import Floats

Levels = NDArray[np.int16]

# One row per node, one of these entries per column.
FEATURE, THRESHOLD, LEFT, RIGHT, VALUE = range(5)
ENTRIES = 5
PARTS = ("nodes", "roots", "baseline")
MOST_NODES, MOST_TREES, MOST_DEPTH, MOST_LEVEL = 2_000_000, 100_000, 1000, 2**15 - 1
# No sum of so many values of this size overflows.
MOST_VALUE = 1e9
# So many pairs of a row and a tree are looked up at a time: few enough to stay in the cache.
_PAIRS = 2**15


@dataclass(frozen=True, eq=False)
class Forest:
    r"""Sums of trees, one sum per output; a file may hold it, since it is data and not code.

    A node is ``(feature, threshold, left, right, value)``. A row goes left if its level of
    the feature is at most the threshold. A leaf is its own left and right, so that a row that has
    arrived stays. Every other child has a larger number than its parent: there is no way round.

    One output is the log-odds of the second of two classes; more are the logits of a softmax.

    Attributes
    ----------
    nodes : ndarray of shape (n_nodes, 5)
    roots : ndarray of shape (n_rounds, n_outputs)
        Where the tree of each round and output starts.
    baseline : ndarray of shape (n_outputs,)
        What the sums start from.

    Examples
    --------
    >>> stump = [[0, 2, 1, 2, 0], [0, 0, 1, 1, -1], [0, 0, 2, 2, 1]]
    >>> forest = Forest(np.array(stump, float), np.zeros((1, 1)), np.zeros(1))
    >>> forest.scores(np.array([[2], [3]], np.int16)).ravel()
    array([-1.,  1.])
    """

    nodes: Floats
    roots: Floats
    baseline: Floats

    @property
    def n_outputs(self) -> int:
        """Number of sums."""
        return len(self.baseline)

    @property
    def n_classes(self) -> int:
        """Number of classes that they are about."""
        return max(self.n_outputs, 2)

    @property
    def n_rounds(self) -> int:
        """Number of trees of each sum."""
        return len(self.roots)

    def probabilities(self, levels: Levels) -> Floats:
        """Return the probability of every class, shape (n, n_classes)."""
        return to_probabilities(self.scores(levels))

    def scores(self, levels: Levels) -> Floats:
        """Return the sums, shape (n, n_outputs); a row's do not depend on the rows beside it."""
        total = np.tile(self.baseline, (len(levels), 1))
        for values in self.rounds(levels):
            total += values
        return total

    def rounds(self, levels: Levels) -> Iterator[Floats]:
        """Give what each round adds to the sums, one array of shape (n, n_outputs) after another.

        Several rounds are looked up together where rows are few.
        """
        n_rows = len(levels)
        together = max(1, _PAIRS // max(1, n_rows * self.n_outputs))
        flat = np.ascontiguousarray(levels).ravel()
        starts = np.arange(n_rows, dtype=np.intp)[:, None] * levels.shape[1]
        for first in range(0, self.n_rounds, together):
            roots = self._roots[first : first + together]
            value = self._values(flat, starts, roots.ravel())
            yield from value.reshape(n_rows, *roots.shape).swapaxes(0, 1)

    def _values(self, flat: Levels, starts: NDArray[np.intp], roots: NDArray[np.intp]) -> Floats:
        node = np.repeat(roots[None, :], len(starts), axis=0)
        for _ in range(int(self._depths[roots].max(initial=0))):
            right = flat.take(starts + self._feature.take(node)) > self._threshold.take(node)
            # The children of a node stand side by side: twice its number, and one more.
            node = self._children.take(2 * node + right)
        return self._value.take(node)

    def first(self, n_rounds: int) -> "Forest":
        """Return the forest after so many rounds, without the nodes of later ones."""
        roots = self._roots[:n_rounds]
        used = np.zeros(len(self.nodes), dtype=bool)
        used[roots.ravel()] = True
        for node in range(len(used)):  # a parent comes before its children
            if used[node]:
                used[self._children[2 * node : 2 * node + 2]] = True
        place = np.cumsum(used) - 1
        nodes = self.nodes[used]
        nodes[:, [LEFT, RIGHT]] = place[nodes[:, [LEFT, RIGHT]].astype(np.intp)]
        return Forest(nodes, place[roots].astype(np.float64), self.baseline)

    @cached_property
    def _feature(self) -> NDArray[np.intp]:
        return self.nodes[:, FEATURE].astype(np.intp)

    @cached_property
    def _threshold(self) -> Levels:
        return self.nodes[:, THRESHOLD].astype(np.int16)

    @cached_property
    def _children(self) -> NDArray[np.intp]:
        return self.nodes[:, [LEFT, RIGHT]].astype(np.intp).ravel()

    @cached_property
    def _value(self) -> Floats:
        return np.ascontiguousarray(self.nodes[:, VALUE])

    @cached_property
    def _roots(self) -> NDArray[np.intp]:
        return self.roots.astype(np.intp)

    @cached_property
    def _depths(self) -> NDArray[np.intp]:
        """How many steps it is from a node to its farthest leaf."""
        left, right = self._children[::2].tolist(), self._children[1::2].tolist()
        depths = [0] * len(left)
        for node in range(len(left) - 1, -1, -1):
            if left[node] != node:
                depths[node] = 1 + max(depths[left[node]], depths[right[node]])
        return np.array(depths, dtype=np.intp)

    def tensors(self) -> dict[str, Floats]:
        """Return the arrays by name, in float64, in which whole numbers below 2**53 are exact."""
        return {name: np.ascontiguousarray(getattr(self, name)) for name in PARTS}

    @classmethod
    def from_tensors(
        cls, tensors: Mapping[str, Floats], *, n_features: int, n_classes: int
    ) -> "Forest":
        """Rebuild a forest from arrays that nobody vouches for.

        Raises
        ------
        ValueError
            If an array is absent or of another shape, or a node leads astray.
        """
        missing = [name for name in PARTS if name not in tensors]
        if missing:
            raise ValueError(f"no array {missing[0]!r} of a forest")
        n_outputs = 1 if n_classes == 2 else n_classes
        nodes, roots, baseline = (tensors[name] for name in PARTS)
        _require_shapes(nodes, roots, baseline, n_outputs)
        for name in PARTS:
            if tensors[name].dtype != np.float64 or not np.isfinite(tensors[name]).all():
                raise ValueError(f"{name} of a forest with something else than finite float64")
        _require_nodes(nodes, n_features)
        _require_whole(roots, 0, len(nodes) - 1, "a root of a forest outside its nodes")
        if max(np.abs(baseline).max(), np.abs(nodes[:, VALUE]).max()) > MOST_VALUE:
            raise ValueError("a value in a forest that is no log-odds")
        forest = cls(nodes, roots, baseline)
        if forest._depths.max() > MOST_DEPTH:
            raise ValueError(f"a tree of more than {MOST_DEPTH} levels")
        return forest


def to_probabilities(scores: Floats) -> Floats:
    """Return the probabilities of all classes from log-odds of two or logits of more."""
    if scores.shape[1] == 1:
        scores = np.hstack([np.zeros_like(scores), scores])
    grown = np.exp(scores - scores.max(axis=1, keepdims=True))
    return np.asarray(grown / grown.sum(axis=1, keepdims=True))


def joined(trees: Sequence[Sequence[Floats | None]], baseline: Floats) -> Forest:
    """Put trees, each numbered from 0, into one forest; None stands for a tree that adds nothing.

    Parameters
    ----------
    trees : sequence of sequences of ndarray or None
        By round, then by output.
    """
    parts = [np.zeros((1, ENTRIES))]  # node 0 is the leaf that adds nothing
    roots = np.zeros((len(trees), len(baseline)))
    start = 1
    for row, outputs in enumerate(trees):
        for column, tree in enumerate(outputs):
            if tree is None:
                continue
            placed = tree.copy()
            placed[:, [LEFT, RIGHT]] += start
            parts.append(placed)
            roots[row, column] = start
            start += len(tree)
    return Forest(np.vstack(parts), roots, np.asarray(baseline, dtype=np.float64))


def _require_shapes(nodes: Any, roots: Any, baseline: Any, n_outputs: int) -> None:
    fits = nodes.ndim == 2 and nodes.shape[1] == ENTRIES and 1 <= len(nodes) <= MOST_NODES
    if not fits:
        raise ValueError(f"nodes of a forest of shape {nodes.shape}")
    if roots.ndim != 2 or roots.shape[1] != n_outputs or not 1 <= roots.size <= MOST_TREES:
        raise ValueError(f"roots of a forest of shape {roots.shape} for {n_outputs} outputs")
    if baseline.shape != (n_outputs,):
        raise ValueError(f"a baseline of shape {baseline.shape} for {n_outputs} outputs")


def _require_nodes(nodes: Floats, n_features: int) -> None:
    last = len(nodes) - 1
    own = np.arange(len(nodes), dtype=np.float64)
    _require_whole(nodes[:, FEATURE], 0, n_features - 1, "a node about a feature that is not there")
    _require_whole(nodes[:, THRESHOLD], -1, MOST_LEVEL, "a node with a threshold that is no level")
    children = nodes[:, [LEFT, RIGHT]]
    _require_whole(children, 0, last, "a node that leads outside the forest")
    is_leaf = (children == own[:, None]).all(axis=1)
    if not (is_leaf | (children > own[:, None]).all(axis=1)).all():
        raise ValueError("a node that leads back")


def _require_whole(values: Floats, low: int, high: int, fault: str) -> None:
    if not ((values >= low) & (values <= high) & (values == np.floor(values))).all():
        raise ValueError(fault)
