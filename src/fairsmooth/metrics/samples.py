"""Samples of many groups, one behind the other in one array: what is added up needs no loop."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fairsmooth._types import Floats


@dataclass(frozen=True, eq=False)
class Samples:
    """Several samples of numbers, some of them perhaps empty.

    Attributes
    ----------
    values : ndarray
        The first sample, then the second, and so on.
    counts : ndarray of int
        How many numbers each has.

    Examples
    --------
    >>> samples = Samples.of([[1.0, 2.0], [], [4.0]])
    >>> samples.sums.tolist(), samples.means.tolist()
    ([3.0, 0.0, 4.0], [1.5, nan, 4.0])
    """

    values: Floats
    counts: NDArray[np.intp]

    @classmethod
    def of(cls, samples: "Samples | Sequence[ArrayLike]") -> "Samples":
        """Put samples one behind the other, if they are not yet."""
        if isinstance(samples, Samples):
            return samples
        each = [np.asarray(sample, dtype=np.float64) for sample in samples]
        counts = np.array([len(sample) for sample in each], dtype=np.intp)
        return cls(np.concatenate([*each, np.empty(0)]), counts)

    def followed_by(self, sample: ArrayLike) -> "Samples":
        """Return the same samples and one more."""
        more = np.asarray(sample, dtype=np.float64)
        return Samples(np.append(self.values, more), np.append(self.counts, len(more)))

    @cached_property
    def sums(self) -> Floats:
        """The sum of each sample."""
        return self._added(self.values)

    @cached_property
    def means(self) -> Floats:
        """The mean of each sample; NaN where it is empty."""
        return shares(self.sums, self.counts)

    @cached_property
    def squares(self) -> Floats:
        """The sum of each sample's squared distances from its mean."""
        return self._added((self.values - np.repeat(self.means, self.counts)) ** 2)

    @cached_property
    def largest(self) -> Floats:
        """The largest of each sample's numbers, or 0 if that is larger."""
        return np.maximum.reduceat(*self._behind_zeros(self.values))

    def _added(self, values: Floats) -> Floats:
        return np.add.reduceat(*self._behind_zeros(values))

    def _behind_zeros(self, values: Floats) -> tuple[Floats, NDArray[np.intp]]:
        """Put a zero before each sample, and return where it is.

        So none is empty, which ``reduceat`` cannot add up; and the others are added up in the same
        order, hence to the same last digit, as each alone.
        """
        starts = np.cumsum(self.counts) - self.counts
        return np.insert(values, starts, 0.0), starts + np.arange(len(starts))


def shares(parts: Floats, wholes: NDArray[np.intp]) -> Floats:
    """Return parts of wholes; NaN where there is nothing to have a part of."""
    return np.divide(parts, wholes, out=np.full(parts.shape, np.nan), where=wholes > 0)


def order_by(codes: NDArray[np.intp], n_codes: int) -> NDArray[np.intp]:
    """Return the rows of the first code, then those of the second, each code's as they come."""
    # As short integers they are sorted by counting, thirty times faster.
    return np.argsort(codes.astype(np.min_scalar_type(n_codes)), kind="stable")
