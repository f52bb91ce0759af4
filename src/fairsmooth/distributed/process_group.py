"""Ranks that ``torchrun`` started, and how they add up numbers: torch.distributed, thin.

Gloo on processors; NCCL where every rank has a GPU of its own, which is the same code and has
not been tested. No pickle travels: what comes from another machine is numbers or JSON.
"""

import ctypes
import datetime
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

import numpy as np
import torch
import torch.distributed as dist
from torch.distributed.rendezvous import rendezvous

from fairsmooth._types import Floats
from fairsmooth.core.ranks import Ranks
from fairsmooth.distributed.launch import number_of_ranks
from fairsmooth.distributed.meeting import connect_to_first
from fairsmooth.distributed.pulse import VARIABLE, Pulse, silence_limit
from fairsmooth.exceptions import FairSmoothError

# A rank may be reading its rows while the others wait; one that died is noticed at once, one
# that fell silent by its pulse.
_PATIENCE = datetime.timedelta(minutes=30)
# How often to look up from a sum that others have not joined yet.
_GLANCE = datetime.timedelta(seconds=0.5)
# Ranks are started together, but one may load its libraries from a slow disk. Whoever tries to
# meet one that ended before waits this long, and up to three times as long by torch's own retries.
_LEAST_TO_MEET = 60.0
_NOTHING_WRITTEN = "Nothing was written. Start all ranks again."


class LostRank(FairSmoothError):
    """Another rank ended or cannot be reached, so that no sum can be completed.

    Attributes
    ----------
    reason : str
        What happened, without what was written until then.
    """

    def __init__(self, reason: str, outcome: str = _NOTHING_WRITTEN) -> None:
        super().__init__(f"{reason} {outcome}".rstrip())
        self.reason = reason


@contextmanager
def joined() -> "Iterator[TorchRanks]":
    """Meet the other ranks that ``torchrun`` started, and part from them at the end.

    Raises
    ------
    LostRank
        If they cannot be met, or if one ends or falls silent before the others part.
    InputError
        If the environment says no number of seconds after which silence is a loss.
    """
    limit = silence_limit()
    on_gpu = torch.cuda.is_available() and torch.cuda.device_count() > _local_rank()
    device = torch.device("cuda", _local_rank()) if on_gpu else torch.device("cpu")
    if on_gpu:
        torch.cuda.set_device(device)
    _meet("nccl" if on_gpu else "gloo", max(limit, _LEAST_TO_MEET))
    ranks = TorchRanks(device)
    try:
        ranks.listen(limit)
        yield ranks
    except BaseException:
        ranks.part(in_order=False)
        _abandon_group()
        raise
    ranks.part(in_order=True)
    dist.destroy_process_group()


def _meet(backend: str, seconds: float) -> None:
    """Join the group of all ranks, once all have said that they are here.

    A group that is joined at once waits for a rank that ended before as long as for one at work.
    """
    try:
        store, rank, size = next(rendezvous("env://", timeout=datetime.timedelta(seconds=seconds)))
        store.set(f"rank {rank}", "here")
        _wait_for_all(store, size, seconds)
        dist.init_process_group(backend, store=store, rank=rank, world_size=size, timeout=_PATIENCE)
    except (RuntimeError, ValueError, OSError) as error:
        raise LostRank(_unmet(number_of_ranks(), seconds, _first(error))) from error


def _wait_for_all(store: Any, size: int, seconds: float) -> None:
    names = [f"rank {each}" for each in range(size)]
    try:
        store.wait(names, datetime.timedelta(seconds=seconds))
    except RuntimeError as error:
        absent = [name for name in names if not store.check([name])]
        if not absent:
            raise
        raise LostRank(_unmet(size, seconds, f"no sign of {', '.join(absent)}.")) from error


def _unmet(size: int, seconds: float, what: str) -> str:
    limit = f"within {seconds:.0f} s ({VARIABLE} sets a longer limit)"
    return f"Expected to meet {size} ranks {limit}, got: {what}"


class TorchRanks(Ranks):
    """All ranks of the process group, which is joined already."""

    def __init__(self, device: torch.device) -> None:
        self.rank, self.size, self._device = dist.get_rank(), dist.get_world_size(), device
        self._pulse: Pulse | None = None

    def listen(self, limit: float) -> None:
        """Notice from now on who falls silent, by the limit of rank 0."""
        limit = float(self.gather(limit)[0])
        if self.size > 1 and (peers := connect_to_first(self)):
            self._pulse = Pulse(peers, limit).start()

    def part(self, *, in_order: bool) -> None:
        """Listen no more; told to the others if the work is done."""
        if self._pulse is not None:
            self._pulse.close(leaving=in_order)

    def sum(self, values: Any) -> Floats:
        """Add up by one all-reduce."""
        own = torch.tensor(np.asarray(values), dtype=torch.float64, device=self._device)
        self._communicate(lambda: dist.all_reduce(own, async_op=True))
        return own.cpu().numpy()

    def exchange(self, contents: bytes) -> list[bytes]:
        """Gather on every rank, padded to the longest."""
        sizes, padded = self._padded(contents)
        parts = [torch.empty_like(padded) for _ in range(self.size)]
        self._communicate(lambda: dist.all_gather(parts, padded, async_op=True))
        return _cut(parts, sizes)

    def to_first(self, contents: bytes) -> list[bytes]:
        """Gather on rank 0, padded to the longest."""
        sizes, padded = self._padded(contents)
        parts = [torch.empty_like(padded) for _ in range(self.size)] if self.rank == 0 else None
        self._communicate(lambda: dist.gather(padded, parts, dst=0, async_op=True))
        return [] if parts is None else _cut(parts, sizes)

    def _padded(self, contents: bytes) -> tuple[list[int], torch.Tensor]:
        table = np.zeros(self.size)
        table[self.rank] = len(contents)
        sizes = [int(size) for size in self.sum(table)]
        padded = np.zeros(max(1, *sizes), dtype=np.uint8)
        padded[: len(contents)] = np.frombuffer(contents, dtype=np.uint8)
        return sizes, torch.from_numpy(padded).to(self._device)

    def _communicate(self, begin: Callable[[], Any]) -> None:
        """Wait until all ranks have joined in, or one of them is lost."""
        try:
            work = begin()
            while not self._ended(work):
                if self._pulse is not None and self._pulse.lost():
                    raise self._loss()
            work.wait()  # done, or failed: then it says so
        except RuntimeError as error:
            raise self._loss() from error

    def _ended(self, work: Any) -> bool:
        if self._device.type == "cuda":  # NCCL gives up what was waited for with a limit
            time.sleep(0.001)
        else:
            with suppress(RuntimeError):
                work.wait(_GLANCE)
        return bool(work.is_completed())

    def _loss(self) -> LostRank:
        silence = None if self._pulse is None else self._pulse.last_words()
        what, then = "one that ended or cannot be reached", f"rank {self.rank} ends too"
        if silence is not None:
            what = f"no sign of life from {silence} ({VARIABLE} sets the limit)"
            if self.rank in silence.ranks:
                then = f"this is rank {self.rank}, and the others went without it"
        return LostRank(
            f"Expected all {self.size} ranks to stay until the end, got {what}; {then}."
        )


def _abandon_group() -> None:
    """Keep the group for ever: its end would wait for a sum that nobody completes."""
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(dist.group.WORLD))


def _cut(parts: list[torch.Tensor], sizes: list[int]) -> list[bytes]:
    return [part[:size].cpu().numpy().tobytes() for part, size in zip(parts, sizes, strict=True)]


def _local_rank() -> int:
    return int(os.environ.get("LOCAL_RANK", "0"))


def _first(error: Exception) -> str:
    return str(error).splitlines()[0] if str(error) else type(error).__name__
