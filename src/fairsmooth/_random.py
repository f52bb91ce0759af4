"""Randomness by name: a seed and the names of what it is for give one stream."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import torch

_SEED_BITS = 63


def seed_from(seed: int, *names: object) -> int:
    """Hash a seed and names into a new seed, so that adding a name moves no other.

    Examples
    --------
    >>> seed_from(0, "adult", "fairbatch") == seed_from(0, "adult", "fairbatch")
    True
    >>> seed_from(0, "adult", "fairbatch") == seed_from(0, "adult", "frs")
    False
    """
    text = "\x1f".join([str(seed), *map(str, names)])
    digest = hashlib.sha256(text.encode()).digest()
    return int.from_bytes(digest[:8], "big") >> (64 - _SEED_BITS)


def torch_generator(
    seed: int, *names: object, device: torch.device | str = "cpu"
) -> torch.Generator:
    """Return a generator of torch, on a device, for the hashed seed.

    Every kind of device has a stream of its own.
    """
    import torch  # here, because names and seeds are also wanted where torch is not

    return torch.Generator(device=device).manual_seed(seed_from(seed, *names))


def numpy_generator(seed: int, *names: object) -> np.random.Generator:
    """Return a generator of NumPy for the hashed seed."""
    return np.random.default_rng(seed_from(seed, *names))
