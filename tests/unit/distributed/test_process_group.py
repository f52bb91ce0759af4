"""How a rank waits for the others, with sums that never end and signs of life told by hand."""

import pytest
import torch

from fairsmooth.distributed.process_group import LostRank, TorchRanks
from fairsmooth.distributed.pulse import Silence


class Work:
    """A sum that is done after some looks, or fails."""

    def __init__(self, looks, error=None):
        self.looks, self.error, self.limits = looks, error, []

    def is_completed(self):
        self.looks -= 1
        return self.looks <= 0

    def wait(self, limit=None):
        self.limits.append(limit)
        if limit is not None and self.looks > 1:
            raise RuntimeError("Operation timed out!")
        if self.error is not None:
            raise self.error


class Pulse:
    def __init__(self, *found):
        self.found = list(found)

    def lost(self):
        return self.found.pop(0) if len(self.found) > 1 else self.found[0]

    last_words = lost


def rank_of(pulse=None, device="cpu", rank=1):
    ranks = TorchRanks.__new__(TorchRanks)
    ranks.rank, ranks.size, ranks._pulse = rank, 3, pulse
    ranks._device = torch.device(device)
    return ranks


@pytest.mark.parametrize("pulse", [None, Pulse(None)])
def test_a_sum_is_waited_for_while_all_live(pulse):
    work = Work(looks=4)
    rank_of(pulse)._communicate(lambda: work)
    assert len(work.limits) == 5
    assert work.limits[-1] is None  # the last wait tells whether it failed


def test_with_nccl_nothing_is_waited_for_with_a_limit():
    work = Work(looks=4)
    rank_of(Pulse(None), device="cuda")._communicate(lambda: work)
    assert work.limits == [None]


def test_a_silent_rank_ends_the_wait():
    pulse = Pulse(None, None, Silence((2,), 60))
    with pytest.raises(LostRank, match=r"no sign of life from rank 2 for 60 s .*; rank 1 ends too"):
        rank_of(pulse)._communicate(lambda: Work(looks=10**9))


def test_a_rank_that_was_silent_itself_is_told_so():
    with pytest.raises(LostRank, match=r"for 60 s .*; this is rank 1, and the others went without"):
        rank_of(Pulse(Silence((1,), 60)))._communicate(lambda: Work(looks=10**9))


@pytest.mark.parametrize(
    ("pulse", "words"),
    [
        (None, "got one that ended or cannot be reached; rank 1 ends too. Nothing was written"),
        (Pulse(None), "got one that ended or cannot be reached; rank 1 ends too"),
        (Pulse(None, Silence((0, 2), 57)), "got no sign of life from ranks 0, 2 for 57 s"),
    ],
)
def test_a_sum_that_fails_is_a_loss(pulse, words):
    work = Work(looks=2, error=RuntimeError("Connection closed by peer"))
    with pytest.raises(LostRank, match=words):
        rank_of(pulse)._communicate(lambda: work)
