"""Ranks that ``torchrun`` started, and how they add up numbers: torch.distributed, thin.

Gloo on processors; NCCL where every rank has a GPU of its own, which is the same code and has
not been tested. No pickle travels: what comes from another machine is numbers or JSON.
"""

import datetime
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import torch
import torch.distributed as dist

from fairsmooth._types import Floats
from fairsmooth.core.ranks import Ranks
from fairsmooth.distributed.launch import number_of_ranks
from fairsmooth.exceptions import FairSmoothError

# A rank may be reading its rows while the others wait; one that died is noticed at once.
_PATIENCE = datetime.timedelta(minutes=30)


class LostRank(FairSmoothError):
    """Another rank ended or cannot be reached, so that no sum can be completed."""


@contextmanager
def joined() -> "Iterator[TorchRanks]":
    """Meet the other ranks that ``torchrun`` started, and part from them at the end.

    Raises
    ------
    LostRank
        If they cannot be met, or if one ends before the others.
    """
    on_gpu = torch.cuda.is_available() and torch.cuda.device_count() > _local_rank()
    device = torch.device("cuda", _local_rank()) if on_gpu else torch.device("cpu")
    if on_gpu:
        torch.cuda.set_device(device)
    try:
        dist.init_process_group("nccl" if on_gpu else "gloo", timeout=_PATIENCE)
    except (RuntimeError, ValueError, OSError) as error:
        raise LostRank(f"Expected to meet {number_of_ranks()} ranks, got: {_first(error)}") from (
            error
        )
    yield TorchRanks(device)
    # Not after an error: a group of which one is gone need not be left in order.
    dist.destroy_process_group()


class TorchRanks(Ranks):
    """All ranks of the process group, which is joined already."""

    def __init__(self, device: torch.device) -> None:
        self.rank, self.size, self._device = dist.get_rank(), dist.get_world_size(), device

    def sum(self, values: Any) -> Floats:
        """Add up by one all-reduce."""
        own = torch.tensor(np.asarray(values), dtype=torch.float64, device=self._device)
        self._communicate(lambda: dist.all_reduce(own))
        return own.cpu().numpy()

    def exchange(self, contents: bytes) -> list[bytes]:
        """Gather on every rank, padded to the longest."""
        sizes, padded = self._padded(contents)
        parts = [torch.empty_like(padded) for _ in range(self.size)]
        self._communicate(lambda: dist.all_gather(parts, padded))
        return _cut(parts, sizes)

    def to_first(self, contents: bytes) -> list[bytes]:
        """Gather on rank 0, padded to the longest."""
        sizes, padded = self._padded(contents)
        parts = [torch.empty_like(padded) for _ in range(self.size)] if self.rank == 0 else None
        self._communicate(lambda: dist.gather(padded, parts, dst=0))
        return [] if parts is None else _cut(parts, sizes)

    def _padded(self, contents: bytes) -> tuple[list[int], torch.Tensor]:
        table = np.zeros(self.size)
        table[self.rank] = len(contents)
        sizes = [int(size) for size in self.sum(table)]
        padded = np.zeros(max(1, *sizes), dtype=np.uint8)
        padded[: len(contents)] = np.frombuffer(contents, dtype=np.uint8)
        return sizes, torch.from_numpy(padded).to(self._device)

    def _communicate(self, message: Callable[[], Any]) -> None:
        try:
            message()
        except RuntimeError as error:
            raise LostRank(
                f"Expected all {self.size} ranks to stay until the end, got one that ended or "
                f"cannot be reached; rank {self.rank} ends too. Nothing was written. "
                "Start all ranks again."
            ) from error


def _cut(parts: list[torch.Tensor], sizes: list[int]) -> list[bytes]:
    return [part[:size].cpu().numpy().tobytes() for part, size in zip(parts, sizes, strict=True)]


def _local_rank() -> int:
    return int(os.environ.get("LOCAL_RANK", "0"))


def _first(error: Exception) -> str:
    return str(error).splitlines()[0] if str(error) else type(error).__name__
