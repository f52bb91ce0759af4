"""Shifts of the population as weights on the rows of a sample."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fairsmooth import _validate
from fairsmooth._random import numpy_generator
from fairsmooth._types import Floats
from fairsmooth.core.labels import group_text
from fairsmooth.data.groups import Groups
from fairsmooth.data.splits import random_rows
from fairsmooth.exceptions import InputError

PARTITIONS = (0.05, 0.10, 0.15, 0.30, 0.40)
SHARES = tuple(round(0.1 * step, 1) for step in range(1, 10))
# Groups whose share is changed.
MOST_MIXED = 20
TILTS = (-1.0, -0.5, -0.25, 0.0, 0.25, 0.5, 1.0)


@dataclass(frozen=True)
class Scenario:
    """One shift: the curve it is a point of, how strong it is, and its row weights.

    ``weights`` has shape (r, n): ``r`` draws of the same shift, of which curves
    show the mean and the spread; 1 where nothing is drawn. ``overall`` says that
    no rate of a group is shown, because none moves and the groups are many.
    """

    curve: str
    strength: float
    weights: Floats
    overall: bool = False


def partitions(
    n_rows: int,
    *,
    shares: Sequence[float] = PARTITIONS,
    n_repeats: int = 20,
    random_state: int = 0,
) -> Iterator[Scenario]:
    """Yield random parts of the sample, as the test partitions of Figure 1.

    Each share is drawn ``n_repeats`` times without replacement. The classifier
    stays the same: what moves is the sample it is measured on.
    """
    for share in shares:
        _validate.in_range(0.0, 1.0, share=share)
        generator = numpy_generator(random_state, "partition", share)
        size = max(1, round(share * n_rows))
        weights = np.zeros((n_repeats, n_rows))
        for row in weights:
            row[random_rows(n_rows, size, permute=generator.permutation)] = 1.0
        yield Scenario("partition", share, weights)


def group_mix(groups: Groups, *, shares: Sequence[float] = SHARES) -> Iterator[Scenario]:
    """Yield populations in which one group has a given share, for every group, ...

    ... or for the 20 largest: every one of them makes a curve for each group.
    The others keep their proportions among themselves, and nothing changes
    within a group: the rates of a group and the gaps between groups stay as
    they are, and the rates over all rows move. Of more than 20 groups the rates
    are left out, the same ones for every share of every group.
    """
    many = int(np.count_nonzero(groups.counts)) > MOST_MIXED
    present = groups.counts / groups.counts.sum()
    largest = np.sort(np.argsort(-groups.counts, kind="stable")[:MOST_MIXED])
    for code in largest[(present[largest] > 0.0) & (present[largest] < 1.0)]:
        name = f"group_mix:{group_text(groups.labels[code])}"
        for share in shares:
            factors = np.full(len(present), (1.0 - share) / (1.0 - present[code]))
            factors[code] = share / present[code]
            yield Scenario(name, share, factors[None, groups.codes], overall=many)


def label_shift(y: NDArray[np.integer], *, shares: Sequence[float] = SHARES) -> Iterator[Scenario]:
    """Yield populations in which positive rows have a given share.

    Nothing changes among the positive rows, nor among the negative: true and
    false positive rates of a group stay as they are. Nothing is yielded if the
    sample has one label only.
    """
    present = float(np.mean(y))
    if not 0.0 < present < 1.0:
        return
    for share in shares:
        weights = np.where(y == 1, share / present, (1.0 - share) / (1.0 - present))
        yield Scenario("label_shift", share, weights[None])


def exponential_tilt(
    column: ArrayLike, *, name: str, strengths: Sequence[float] = TILTS
) -> Iterator[Scenario]:
    r"""Yield populations tilted along a column, with weights :math:`\propto e^{t z}`.

    :math:`z` is the column in standard deviations from its mean. For a normal
    column this moves its mean by ``t`` standard deviations and leaves its spread.
    """
    values = np.asarray(column, dtype=np.float64)
    spread = values.std()
    if not (np.isfinite(spread) and spread > 0):
        raise InputError(
            f"Expected a column with finite values that vary, got {name!r} with "
            f"standard deviation {spread}. Choose another column to tilt along."
        )
    scaled = (values - values.mean()) / spread
    for strength in strengths:
        exponent = strength * scaled
        weights = np.exp(exponent - exponent.max())
        yield Scenario(f"tilt:{name}", strength, (weights / weights.mean())[None])
