import numpy as np
import pytest
from tests.ranks_in_threads import run_ranks

from fairsmooth.core.ranks import ALONE
from fairsmooth.exceptions import GroupError, InputError


def test_counts_are_placed_after_those_of_earlier_ranks():
    found = run_ranks(3, lambda ranks: ranks.placed([1, ranks.rank]))
    assert [before.tolist() for before, _ in found] == [[0, 0], [1, 0], [2, 1]]
    assert all(total.tolist() == [3, 3] for _, total in found)


def test_what_one_rank_refuses_all_refuse():
    def refuse():
        raise GroupError("Expected rows, got none.")

    def work(ranks):
        with pytest.raises(InputError, match=r"got none\. \(Rank 1 of 2 says so\.\)"):
            ranks.together(refuse if ranks.rank == 1 else lambda: "done")
        return ranks.together(lambda: ranks.rank)

    assert run_ranks(2, work) == [0, 1]


def test_one_process_refuses_in_its_own_words():
    def refuse():
        raise InputError("Expected rows, got none.")

    with pytest.raises(InputError, match=r"got none\.$"):
        ALONE.together(refuse)


def test_one_process_is_all_there_is():
    before, total = ALONE.placed([2, 5])
    assert (before.tolist(), total.tolist()) == ([0, 0], [2, 5])
    assert ALONE.exchange(b"a") == ALONE.to_first(b"a") == [b"a"]
    assert ALONE.sum([1]).dtype == np.float64
