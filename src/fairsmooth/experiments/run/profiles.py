"""How much is spent: enough to see that it runs, half an hour, or the paper's own budget."""

from collections.abc import Sequence
from dataclasses import dataclass

from fairsmooth.exceptions import InputError

ENCODINGS = ("aif360", "binned")


@dataclass(frozen=True)
class Profile:
    """A budget.

    Attributes
    ----------
    name : str
        As the command line knows it.
    n_trials : int
        Random splits of every case.
    first_trial : int
        Seed of the first split of the trade-off; the others follow.
    n_candidates : int
        How many candidates of every method are tried on held-out training rows; 1
        takes the published default.
    max_rows : int or None
        Rows of a dataset that take part at all, at random; None is all of them.
    selection_rows : int or None
        In the choice among candidates, three quarters of so many rows train them. A quarter of
        all training rows judges them.
    quick : bool
        Cut the training of every method short.
    n_points, n_points_others : int or None
        Points of a sweep for the methods it is about, and for the others; None is all.
    max_draws, draws_rows : int
        Most weight draws, and rows scored, where sampling is timed.
    """

    name: str
    n_trials: int
    n_candidates: int
    max_rows: int | None = None
    selection_rows: int | None = None
    quick: bool = False
    n_points: int | None = None
    n_points_others: int | None = None
    max_draws: int = 100_000
    draws_rows: int = 100
    first_trial: int = 0


PROFILES = (
    Profile(
        "smoke",
        n_trials=1,
        n_candidates=1,
        max_rows=600,
        quick=True,
        n_points=3,
        n_points_others=2,
        max_draws=1000,
        draws_rows=20,
    ),
    Profile("laptop", n_trials=3, n_candidates=3, selection_rows=4000, n_points_others=2),
    Profile("paper", n_trials=10, n_candidates=6, selection_rows=4000),
    # For the experiment of that name: nothing is chosen there.
    Profile("readings", n_trials=3, n_candidates=1),
)


def profile(name: str) -> Profile:
    """Return a profile by name."""
    found = {each.name: each for each in PROFILES}
    if name not in found:
        raise InputError(f"Expected a profile among {', '.join(found)}, got {name!r}.")
    return found[name]


def thinned(values: Sequence[float], count: int | None) -> tuple[float, ...]:
    """Keep ``count`` values, evenly spaced and with both ends.

    Examples
    --------
    >>> thinned((1, 2, 3, 4, 5), 3)
    (1, 3, 5)
    """
    if count is None or count >= len(values):
        return tuple(values)
    last = len(values) - 1
    return tuple(values[round(position * last / (count - 1))] for position in range(count))
