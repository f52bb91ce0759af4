"""Processes that each hold a share of the rows, and what they tell each other.

Whatever training needs of rows is a sum over them. So nothing here moves rows: ranks add up
numbers, and pass plain words (names, counts) around. How messages travel is said elsewhere
(:mod:`fairsmooth.distributed`); one process alone is its own sum.
"""

import json
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

from fairsmooth._types import Floats
from fairsmooth.exceptions import FairSmoothError, InputError

Result = TypeVar("Result")


class Ranks(ABC):
    """Some processes, numbered from 0; every one calls every method here in the same order.

    Attributes
    ----------
    rank : int
        The number of this one.
    size : int
        How many there are.
    """

    rank: int
    size: int

    @abstractmethod
    def sum(self, values: Any) -> Floats:
        """Add up arrays of one shape over all ranks, in float64; all get the same bits."""

    @abstractmethod
    def exchange(self, contents: bytes) -> list[bytes]:
        """Give some bytes to everybody; return those of all ranks, in their order."""

    @abstractmethod
    def to_first(self, contents: bytes) -> list[bytes]:
        """Give some bytes to rank 0, which returns those of all ranks; others return nothing."""

    def gather(self, plain: Any) -> list[Any]:
        """Give plain data to everybody, as JSON: what comes from another rank is never code."""
        return [json.loads(each) for each in self.exchange(json.dumps(plain).encode())]

    def placed(self, counts: Any) -> tuple[Floats, Floats]:
        """Return, for counts of this rank, those of the ranks before it and those of all."""
        own = np.asarray(counts, dtype=np.float64)
        table = np.zeros((self.size, *own.shape))
        table[self.rank] = own
        table = self.sum(table)
        return table[: self.rank].sum(0), table.sum(0)

    def together(self, work: Callable[[], Result]) -> Result:
        """Do something that asks nothing of other ranks; if it is refused on one, so it is on all.

        Raises
        ------
        InputError
            With the message of the first rank that refused.
        """
        result: Result | None = None
        refused = None
        try:
            result = work()
        except FairSmoothError as error:
            refused = str(error)
        for rank, message in enumerate(self.gather(refused)):
            if message is not None:
                where = "" if self.size == 1 else f" (Rank {rank} of {self.size} says so.)"
                raise InputError(message + where)
        return result  # type: ignore[return-value]


class OneProcess(Ranks):
    """Nobody else: every sum is one's own.

    Examples
    --------
    >>> ALONE.sum([1, 2]), ALONE.gather("a")
    (array([1., 2.]), ['a'])
    """

    rank, size = 0, 1

    def sum(self, values: Any) -> Floats:
        """Return the values."""
        return np.asarray(values, dtype=np.float64)

    def exchange(self, contents: bytes) -> list[bytes]:
        """Return one's own."""
        return [contents]

    def to_first(self, contents: bytes) -> list[bytes]:
        """Return one's own."""
        return [contents]


ALONE = OneProcess()
