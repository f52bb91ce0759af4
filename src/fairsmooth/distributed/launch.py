"""Whether ``torchrun`` started this process, told without loading torch."""

import os

from fairsmooth.exceptions import InputError

_NAMES = ("RANK", "WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT")


def number_of_ranks() -> int:
    """Return how many ranks were started, 1 if ``torchrun`` did not start this process."""
    if not all(os.environ.get(name) for name in _NAMES):
        return 1
    size, rank = os.environ["WORLD_SIZE"], os.environ["RANK"]
    if not (size.isdecimal() and rank.isdecimal() and int(rank) < int(size)):
        raise InputError(f"Expected RANK below WORLD_SIZE, got {rank!r} and {size!r}.")
    return int(size)
