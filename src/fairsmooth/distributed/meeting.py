"""A connection from every rank to rank 0 beside those of the work, for signs of life."""

import os
import secrets
import socket
import time
import warnings
from contextlib import suppress

from fairsmooth.core.ranks import Ranks

_SECONDS_TO_MEET = 20.0
_SECONDS_TO_GREET = 2.0
# Who else may stand in line, say whoever looks for open ports, without keeping a rank out.
_STRANGERS = 64
_TOKEN_BYTES = 16
_RANK_BYTES = 4


def connect_to_first(ranks: Ranks) -> dict[int, socket.socket]:
    """Return, on rank 0, a connection to every other rank; on the others, one to rank 0.

    Rank 0 listens at a port of its own choice until all have come, and takes nobody who does not
    know a word that it drew. If somebody cannot come, nobody has a connection, and rank 0 warns.
    """
    listener = _listener(ranks.size) if ranks.rank == 0 else None
    token = secrets.token_bytes(_TOKEN_BYTES)
    port = listener.getsockname()[1] if listener else None
    port, word = ranks.gather([port, token.hex()])[0]
    met: dict[int, socket.socket] = {}
    if listener:
        with listener:
            met = _accept(listener, token, ranks.size)
    elif ranks.rank and port:
        met = _call(int(port), bytes.fromhex(word) + ranks.rank.to_bytes(_RANK_BYTES, "big"))
    came, *others = ranks.gather(sorted(met))
    missing = [rank for rank, own in enumerate(others, 1) if rank not in came or own != [0]]
    if not missing:
        return met
    for connection in met.values():
        connection.close()
    if ranks.rank == 0:
        warnings.warn(_alone(missing), UserWarning, stacklevel=2)
    return {}


def _alone(missing: list[int]) -> str:
    return (
        f"Expected every rank to reach rank 0 at {os.environ['MASTER_ADDR']}, where it chose a "
        f"port, got none from rank {', '.join(map(str, missing))}. Training goes on, but a machine "
        "that vanishes without a word will be noticed after 30 minutes only."
    )


def _listener(size: int) -> socket.socket | None:
    # At all addresses, as the store that the ranks met at: which of them others use is not known.
    waiting = size + _STRANGERS
    both = socket.has_dualstack_ipv6()
    family = socket.AF_INET6 if both else socket.AF_INET
    with suppress(OSError):
        return socket.create_server(("", 0), family=family, backlog=waiting, dualstack_ipv6=both)
    return None


def _accept(listener: socket.socket, token: bytes, size: int) -> dict[int, socket.socket]:
    """Take in all other ranks, as far as they come in time."""
    met: dict[int, socket.socket] = {}
    until = time.monotonic() + _SECONDS_TO_MEET
    while len(met) < size - 1 and time.monotonic() < until:
        listener.settimeout(max(until - time.monotonic(), 0.001))
        with suppress(OSError):
            connection, _ = listener.accept()
            greeting = _greeting(connection)
            rank = int.from_bytes(greeting[_TOKEN_BYTES:], "big")
            known = secrets.compare_digest(greeting[:_TOKEN_BYTES], token)
            if known and 0 < rank < size and rank not in met:
                met[rank] = connection
            else:
                connection.close()
    return met


def _greeting(connection: socket.socket) -> bytes:
    connection.settimeout(_SECONDS_TO_GREET)
    said = b""
    with suppress(OSError):
        while len(said) < _TOKEN_BYTES + _RANK_BYTES:
            came = connection.recv(_TOKEN_BYTES + _RANK_BYTES - len(said))
            if not came:
                break
            said += came
    return said


def _call(port: int, greeting: bytes) -> dict[int, socket.socket]:
    with suppress(OSError):
        address = (os.environ["MASTER_ADDR"], port)
        connection = socket.create_connection(address, timeout=_SECONDS_TO_MEET / 2.0)
        connection.sendall(greeting)
        return {0: connection}
    return {}
