"""Signs of life between ranks, beside their work: one that vanishes without a word is noticed.

Every rank tells rank 0 that it lives, and rank 0 tells every rank, a line at a time, from a
thread of its own. Rank 0 judges the others and passes its judgement on; the others judge rank 0.
A rank that leaves says so. One that is killed says nothing, but then the connections of the work
end, and the work knows first.

Plain sockets, because the client of torch's rendezvous store waits for an answer without limit,
logs what it meets, and ends the process if it is waiting when Python ends.
"""

import math
import os
import socket
import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field

from fairsmooth.exceptions import InputError

VARIABLE = "FAIRSMOOTH_RANK_SECONDS"
# A call that holds Python's lock also holds the thread back, so this is more than such calls take.
LIMIT = 60.0
_SLOWEST_BEAT, _BEATS_PER_LIMIT = 5.0, 12.0
_BEAT, _LEFT, _LOST = b"\n", b"left\n", b"lost"
_MOST_BYTES = 1 << 16
# What another rank said last may still be on its way when its other connections have ended.
_LAST_WORDS = 1.0


def silence_limit() -> float:
    """Return for how many seconds a rank may be silent: those of the environment, or 60."""
    given = os.environ.get(VARIABLE, "")
    try:
        seconds = float(given) if given else LIMIT
    except ValueError:
        seconds = math.nan
    if not 0.0 < seconds < math.inf:
        raise InputError(f"Expected a positive number of seconds in {VARIABLE}, got {given!r}.")
    return seconds


@dataclass(frozen=True)
class Silence:
    """Ranks that were not heard from, and for how many seconds."""

    ranks: tuple[int, ...]
    seconds: int

    def __str__(self) -> str:
        names = ", ".join(map(str, self.ranks))
        return f"rank{'s' if len(self.ranks) > 1 else ''} {names} for {self.seconds} s"


@dataclass
class _Peer:
    """A rank at the other end of a connection, which neither side ever waits for."""

    connection: socket.socket
    silent: float = 0.0
    left: bool = False
    ended: bool = False
    lines: list[bytes] = field(default_factory=list)
    _begun: bytes = b""

    def hear(self) -> None:
        """Take in whatever has come; any of it is a sign of life."""
        while not self.ended:
            try:
                came = self.connection.recv(4096)
            except BlockingIOError:
                return
            except OSError:
                came = b""
            self.ended = not came or len(self._begun) > _MOST_BYTES
            if came:
                self.silent = 0.0
                *lines, self._begun = (self._begun + came).split(b"\n")
                self.lines += [line for line in lines if line.strip()]
                self.left = self.left or _LEFT.strip() in lines

    def tell(self, line: bytes) -> None:
        """Send a line; one that does not fit goes to a rank that stopped reading long ago."""
        with suppress(OSError):
            self.connection.send(line)


class Pulse:
    """Tells other ranks that this one lives, and listens whether they do.

    What counts is the time in which this process was awake to listen: whatever came while it was
    not is heard first, and a pause of its own (Python's lock held, a machine that slept) counts
    as two beats at most. No clocks are compared.

    Parameters
    ----------
    peers : mapping
        A connection for each rank to watch: to rank 0, or on rank 0 to all others.
    limit : float
        After so many seconds of silence a rank is lost.
    """

    def __init__(self, peers: Mapping[int, socket.socket], limit: float) -> None:
        for connection in peers.values():
            connection.setblocking(False)
        self._peers = {rank: _Peer(connection) for rank, connection in peers.items()}
        self._limit, self.period = limit, min(limit / _BEATS_PER_LIMIT, _SLOWEST_BEAT)
        # Ranks of one machine fall silent within two beats, and so do those who judge rank 0.
        self._nearly = limit - 2.0 * self.period
        self._found: Silence | None = None
        self._latest = time.monotonic()
        self._lock, self._closing = threading.Lock(), threading.Event()
        self._thread = threading.Thread(target=self._go_on, name="fairsmooth-pulse", daemon=True)

    def start(self) -> "Pulse":
        """Begin to beat."""
        self._thread.start()
        return self

    def lost(self) -> Silence | None:
        """Return who is lost, by own judgement or that of rank 0."""
        with self._lock:
            self._hear()
            return self._found

    def last_words(self) -> Silence | None:
        """Return who was lost after the work failed: others may have noticed a moment before."""
        until = time.monotonic() + _LAST_WORDS
        while not self.lost() and time.monotonic() < until:
            with self._lock:
                self._judge(self._nearly)
                if not any(rank == 0 and not peer.ended for rank, peer in self._peers.items()):
                    break  # nobody is left who could tell
            time.sleep(_LAST_WORDS / 20.0)
        return self.lost()

    def close(self, *, leaving: bool) -> None:
        """End; ``leaving`` tells the others that nothing is missing when no more is heard."""
        self._closing.set()
        if self._thread.is_alive():
            self._thread.join()
        for peer in self._peers.values():
            peer.hear()  # what is unread when a connection is closed may take what was sent along
            if leaving:
                peer.tell(_LEFT)
            with suppress(OSError):
                peer.connection.shutdown(socket.SHUT_WR)
            peer.connection.close()

    def beat(self, now: float) -> None:
        """Listen, judge, and tell the others: what the thread does again and again."""
        with self._lock:
            passed, self._latest = min(now - self._latest, 2.0 * self.period), now
            for peer in self._peers.values():
                peer.silent += passed
            self._hear()
            self._judge(self._limit)
            for peer in self._peers.values():
                peer.tell(_BEAT)

    def _go_on(self) -> None:
        while not self._closing.wait(self.period):
            self.beat(time.monotonic())

    def _hear(self) -> None:
        for rank, peer in self._peers.items():
            peer.hear()
            for line in peer.lines:
                if rank == 0 and self._found is None:
                    self._found = _silence(line)
            peer.lines.clear()

    def _judge(self, limit: float) -> None:
        """If one was silent so long, call it lost, with all that nearly are."""
        silent = {rank: peer.silent for rank, peer in self._peers.items() if not peer.left}
        if self._found or not any(seconds >= limit for seconds in silent.values()):
            return
        lost = {r: each for r, each in silent.items() if each >= self._nearly}
        self._found = Silence(tuple(sorted(lost)), round(min(lost.values())))
        words = [_LOST, *(b"%d" % number for number in (self._found.seconds, *self._found.ranks))]
        for peer in self._peers.values():
            peer.tell(b" ".join(words) + b"\n")


def _silence(line: bytes) -> Silence | None:
    """Read a judgement: numbers, or nothing."""
    word, *numbers = line.split()
    if word != _LOST or len(numbers) < 2 or not all(map(_is_short, numbers)):
        return None
    seconds, *ranks = map(int, numbers)
    return Silence(tuple(ranks), seconds)


def _is_short(number: bytes) -> bool:
    return number.isdigit() and len(number) < 10
