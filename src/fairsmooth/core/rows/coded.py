"""Rows as small whole numbers: one code per source column, whose level has an indicator or none."""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from fairsmooth._types import Floats
from fairsmooth.core.rows.dense import DenseBlock, column_scales
from fairsmooth.core.rows.packing import NO_FEATURE, pack, packing
from fairsmooth.core.rows.rows import Block, Choice, Index, Rows, segments


@dataclass(frozen=True, eq=False)
class CodedRows(Rows):
    r"""Indicators that are never spelt out, beside columns of numbers.

    A row has one code in every coded column. Level ``c`` of column ``j`` is entry
    ``offsets[j] + c`` of ``features``: the feature that is 1 there, or -1 for none. The
    logit is then :math:`\sum_j t[\text{offset}_j + \text{code}_j]` plus the numbers' part,
    where ``t`` are the features' weights.

    Attributes
    ----------
    codes : ndarray of unsigned int, shape (n, p)
        One code per row and column, in C order; may be mapped from a file.
    offsets : ndarray of shape (p,)
        Where each column's levels begin.
    features : ndarray of int, shape (T,) or (T, w)
        Feature of every level; of columns that share a code (:meth:`packed`), one each.
    numbers : ndarray of shape (n, q)
        Columns that stay numbers, and ...
    number_features : ndarray of shape (q,)
        ... which features they are.
    names : tuple of str
        Names of the features; their number is that of the features.

    Examples
    --------
    >>> rows = CodedRows(
    ...     np.array([[0, 1], [2, 0]], dtype=np.uint8), np.array([0, 3]),
    ...     np.array([0, 1, 2, -1, 3]), np.empty((2, 0)), np.empty(0, dtype=int), tuple("abcd"))
    >>> rows.toarray()
    array([[1., 0., 0., 1.],
           [0., 0., 1., 0.]])
    >>> rows.logits(np.array([10.0, 20.0, 30.0, 5.0, 1.0]))
    array([16., 31.])
    """

    codes: NDArray[np.unsignedinteger[Any]]
    offsets: Index
    features: Index
    numbers: Floats
    number_features: Index
    names: tuple[str, ...] = field(repr=False)
    chunk_rows: int = 2**14

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of rows and of features."""
        return len(self.codes), len(self.names)

    def take(self, rows: Choice) -> Self:
        """Return some of the rows."""
        return replace(self, codes=self.codes[rows], numbers=self.numbers[rows])

    def toarray(self) -> Floats:
        """Return every indicator and number."""
        out = np.zeros(self.shape)
        for offset, codes in zip(self.offsets, self.codes.T, strict=True):
            for features in self._sets[offset + codes.astype(np.intp)].T:
                rows = np.flatnonzero(features != NO_FEATURE)
                out[rows, features[rows]] = 1.0
        out[:, self.number_features] = self.numbers
        return out

    def tocsr(self) -> Any:
        """Return the entries that are not 0 as a SciPy matrix."""
        features = self._sets.astype(np.int32)[self.codes + self.offsets].reshape(len(self), -1)
        used = features != NO_FEATURE
        rows = np.broadcast_to(np.arange(len(self))[:, None], features.shape)[used]
        coded = csr_array((np.ones(len(rows)), (rows, features[used])), shape=self.shape)
        if not len(self.number_features):
            return coded
        among = np.tile(self.number_features, len(self)), np.arange(len(self) + 1)
        width = len(self.number_features)
        numbers = csr_array((self.numbers.ravel(), among[0], width * among[1]), shape=self.shape)
        return coded + numbers

    def squared_norms(self) -> Floats:
        """Return how many indicators a row sets, plus the squares of its numbers."""
        table = np.zeros((1, self._width))
        table[0, : len(self.features)] = (self._sets != NO_FEATURE).sum(axis=1)
        return self._apply(table) + np.einsum("ij,ij->i", self.numbers, self.numbers)

    def squared(self) -> Self:
        """Return the squares; an indicator is its own."""
        with np.errstate(over="ignore"):  # infinite lengths are for the caller to see
            return replace(self, numbers=np.square(self.numbers))

    def scales(self) -> tuple[Floats, Floats]:
        """Return 1 for indicators that occur; of numbers, as :func:`column_scales` has it."""
        largest, middle = np.zeros(self.shape[1]), np.full(self.shape[1], np.nan)
        seen = self._sets[self._seen()]
        seen = seen[seen != NO_FEATURE]
        largest[seen] = middle[seen] = 1.0
        found = column_scales(self.numbers)
        largest[self.number_features], middle[self.number_features] = found
        return largest, middle

    def _seen(self) -> NDArray[np.bool_]:
        """Tell which levels occur."""
        seen = np.zeros(len(self.features), dtype=bool)
        for start, stop in self.bounds():
            for offset, codes in zip(self.offsets, self.codes[start:stop].T, strict=True):
                seen[offset + np.flatnonzero(np.bincount(codes))] = True
        return seen

    def packed(self) -> Self:
        """Return the same rows with several columns in one code, where it stays below 256."""
        plan = packing(np.diff(self.offsets, append=len(self.features)).tolist())
        if len(plan) == len(self.offsets):
            return self
        codes, offsets, features = pack(self.codes, self.offsets, self._sets, plan)
        return replace(self, codes=codes, offsets=offsets, features=features)

    @cached_property
    def _sets(self) -> Index:
        """The features of every level, (T, w)."""
        return self.features if self.features.ndim == 2 else self.features[:, None]

    @property
    def _width(self) -> int:
        """Entries of a table: levels; if there are numbers, these and the intercept."""
        count = len(self.number_features)
        return len(self.features) + (count + 1 if count else 0)

    @cached_property
    def _parameters(self) -> Any:
        """The parameters behind every entry of a table, as a sparse 0/1 matrix ``(T, d + 1)``.

        Without numbers the levels of the first column have the intercept too.
        """
        intercept = self.shape[1]
        used, place = np.nonzero(self._sets != NO_FEATURE)
        behind = self._sets[used, place]
        if len(self.number_features):
            others = np.append(self.number_features, intercept)
            used = np.append(used, len(self.features) + np.arange(len(others)))
        else:
            first = np.arange(self._stops[0])
            others, used = np.full(len(first), intercept), np.append(used, first)
        entries = np.ones(len(used)), (used, np.append(behind, others))
        return csr_array(entries, shape=(self._width, intercept + 1))

    @property
    def _stops(self) -> Index:
        return np.append(self.offsets[1:], len(self.features))

    def table(self, parameters: Floats) -> Floats:
        """Return what every level, number and the intercept weigh, by group."""
        return np.ascontiguousarray((self._parameters @ parameters.T).T)

    def gradient(self, sums: Floats) -> Floats:
        """Return the sums by parameter."""
        return np.ascontiguousarray((self._parameters.T @ sums.T).T)

    def blocks(self, groups: Index) -> Iterator[tuple[int, int, Block]]:
        """Yield pieces: the places of the rows' levels in the table, and their numbers."""
        n_groups = int(groups[-1]) + 1 if len(groups) else 1
        kind: Any = np.int32 if self._width * n_groups < 2**31 else np.int64
        offsets = self.offsets.astype(kind)
        space = np.empty((min(self.chunk_rows, len(self)), len(offsets)), dtype=kind)
        for start, stop in self.bounds():
            places, codes = space[: stop - start], self.codes[start:stop]
            parts = segments(groups[start:stop])
            for group, first, last in parts:
                base = offsets + kind(group * self._width)
                np.add(codes[first:last], base, out=places[first:last], dtype=kind)
            coded = CodedBlock(places)
            if not len(self.number_features):
                yield start, stop, coded
                continue
            numbers = DenseBlock(self.numbers[start:stop], parts)
            yield start, stop, _WithNumbers(coded, numbers, len(self.features))


@dataclass(frozen=True, eq=False)
class CodedBlock(Block):
    """Rows that add up a fixed number of table entries each."""

    places: Index

    def _matrix(self, table: Floats) -> Any:
        n, p = self.places.shape
        ends = np.arange(n + 1, dtype=self.places.dtype) * self.places.dtype.type(p)
        return csr_array((_ones(n * p), self.places.ravel(), ends), shape=(n, table.size))

    def logits(self, table: Floats) -> Floats:
        """Add up table entries."""
        return np.asarray(self._matrix(table) @ table.ravel())

    def add_sums(self, values: Floats, sums: Floats) -> None:
        """Add every row's value to its table entries."""
        sums += (self._matrix(sums).T @ values).reshape(sums.shape)


@dataclass(frozen=True, eq=False)
class _WithNumbers(Block):
    """Coded columns beside numbers, which have the intercept."""

    places: CodedBlock
    numbers: DenseBlock
    n_levels: int

    def logits(self, table: Floats) -> Floats:
        """Add both parts."""
        return self.places.logits(table) + self.numbers.logits(table[:, self.n_levels :])

    def add_sums(self, values: Floats, sums: Floats) -> None:
        """Add to both parts."""
        self.places.add_sums(values, sums)
        self.numbers.add_sums(values, sums[:, self.n_levels :])


_SHARED_ONES = [np.ones(0)]


def _ones(count: int) -> Floats:
    """Return that many ones, the same memory every time."""
    if len(_SHARED_ONES[0]) < count:
        _SHARED_ONES[0] = np.ones(count)
    return _SHARED_ONES[0][:count]
