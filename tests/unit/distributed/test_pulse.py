"""Who is called lost, told by hand and by a clock of our own."""

import socket
import time

import pytest

from fairsmooth.distributed import pulse
from fairsmooth.distributed.pulse import VARIABLE, Pulse, Silence, silence_limit
from fairsmooth.exceptions import InputError

LIMIT = 60.0


class Clock:
    """Rank 0 and two others at the ends of real connections; beats when told to."""

    def __init__(self, monkeypatch):
        self.now = 0.0
        monkeypatch.setattr(pulse.time, "monotonic", lambda: self.now)
        monkeypatch.setattr(pulse.time, "sleep", lambda seconds: self.pass_by(seconds))
        (zero_one, one), (zero_two, two) = socket.socketpair(), socket.socketpair()
        self.zero = Pulse({1: zero_one, 2: zero_two}, LIMIT)
        self.one, self.two = Pulse({0: one}, LIMIT), Pulse({0: two}, LIMIT)

    def pass_by(self, seconds):
        self.now += seconds

    def found(self):
        return [lost for each in (self.zero, self.one, self.two) if (lost := each.lost())]

    def go_on(self, seconds, *beating):
        """Let time pass for some of them, five seconds at a time."""
        for _ in range(round(seconds / 5.0)):
            self.pass_by(5.0)
            for each in beating:
                each.beat(self.now)


@pytest.fixture
def clock(monkeypatch):
    clock = Clock(monkeypatch)
    yield clock
    for each in (clock.zero, clock.one, clock.two):
        each.close(leaving=False)


def test_a_silent_rank_is_lost_at_the_limit_and_all_are_told(clock):
    clock.go_on(20, clock.zero, clock.one, clock.two)
    clock.go_on(55, clock.zero, clock.two)
    assert clock.zero.lost() is None
    clock.go_on(10, clock.zero, clock.two)
    assert clock.zero.lost() == clock.two.lost() == Silence((1,), 60)
    assert str(clock.two.lost()) == "rank 1 for 60 s"
    assert clock.one.lost() == Silence((1,), 60)  # what it will read when it wakes up


def test_ranks_that_fell_silent_together_are_named_together(clock):
    clock.go_on(5, clock.zero, clock.one)
    clock.go_on(60, clock.zero)
    assert str(clock.zero.lost()) == "ranks 1, 2 for 50 s"


def test_a_silent_first_rank_is_noticed_by_each(clock):
    clock.go_on(65, clock.one, clock.two)
    assert clock.one.lost() == clock.two.lost() == Silence((0,), 60)


def test_ranks_that_beat_are_never_lost(clock):
    clock.go_on(3600, clock.zero, clock.one, clock.two)
    assert clock.found() == []


def test_a_pause_of_ones_own_is_nobody_elses_silence(clock):
    clock.go_on(10, clock.zero, clock.one, clock.two)
    clock.go_on(55, clock.one, clock.two)  # rank 0 cannot listen; the others beat
    clock.go_on(5, clock.zero)
    assert clock.zero.lost() is None
    clock.pass_by(3600.0)  # a machine with all of them slept
    for each in (clock.zero, clock.one, clock.two):
        each.beat(clock.now)
    assert clock.found() == []


def test_whoever_leaves_in_order_is_not_lost(clock):
    clock.one.close(leaving=True)
    clock.go_on(300, clock.zero, clock.two)
    assert clock.found() == []
    clock.zero.close(leaving=True)
    clock.go_on(300, clock.two)
    assert clock.two.lost() is None


def test_a_connection_that_ends_without_a_word_is_silence(clock):
    clock.one.close(leaving=False)
    clock.go_on(65, clock.zero, clock.two)
    assert clock.zero.lost() == Silence((1,), 60)


def test_after_a_failure_nearly_silent_is_silent(clock):
    clock.go_on(30, clock.one)
    assert clock.one.last_words() is None
    clock.go_on(25, clock.one)
    # A second more was spent on listening for what others may have said.
    assert clock.one.last_words() == Silence((0,), 56)


def test_rank_zero_need_not_wait_for_last_words(clock):
    before = clock.now
    assert clock.zero.last_words() is None
    assert clock.now == before


def test_words_that_are_no_judgement_are_signs_of_life_only():
    mine, other = socket.socketpair()
    listening = Pulse({0: mine}, LIMIT)
    for words in (b" \n", b"lost\n", b"lost 1\n", b"lost x 1\n", b"lost 60 -1\n", b"\xb2 1 1\n"):
        other.send(words)
    other.send(b"lost 60 " + b"9" * 5000 + b"\n")
    assert listening.lost() is None
    other.send(b"lost 60")
    assert listening.lost() is None  # not all of it came yet
    other.send(b" 1 2\n")
    assert listening.lost() == Silence((1, 2), 60)
    listening.close(leaving=False)
    other.close()


def test_a_line_without_end_is_not_kept():
    mine, other = socket.socketpair()
    listening = Pulse({0: mine}, LIMIT)
    for _ in range(40):
        other.send(b"x" * 4000)
        listening.lost()
    assert sum(len(peer._begun) for peer in listening._peers.values()) < 80_000
    listening.close(leaving=False)
    other.close()


def test_the_thread_beats_by_itself():
    mine, other = socket.socketpair()
    beating = Pulse({1: mine}, 0.3).start()
    time.sleep(0.5)
    assert beating.lost() == Silence((1,), 0)
    beating.close(leaving=True)
    said = other.recv(4096)
    assert said.count(b"\n") > 5
    assert b"lost 0 1\n" in said
    assert said.endswith(b"left\n")
    other.close()


def test_the_limit_is_a_minute_or_that_of_the_environment(monkeypatch):
    monkeypatch.delenv(VARIABLE, raising=False)
    assert silence_limit() == LIMIT
    monkeypatch.setenv(VARIABLE, "7.5")
    assert silence_limit() == 7.5


@pytest.mark.parametrize("given", ["0", "-3", "nan", "inf", "soon"])
def test_a_limit_that_is_none_is_refused(monkeypatch, given):
    monkeypatch.setenv(VARIABLE, given)
    with pytest.raises(InputError, match=f"Expected a positive number .* got '{given}'"):
        silence_limit()
