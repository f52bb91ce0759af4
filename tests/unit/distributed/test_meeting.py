"""Connections for signs of life: to those who know the word, or to nobody."""

import socket
import warnings

import pytest
from tests.ranks_in_threads import run_ranks

from fairsmooth.distributed import meeting


@pytest.fixture(autouse=True)
def quickly(monkeypatch):
    monkeypatch.setenv("MASTER_ADDR", "127.0.0.1")
    monkeypatch.setattr(meeting, "_SECONDS_TO_MEET", 1.0)
    monkeypatch.setattr(meeting, "_SECONDS_TO_GREET", 0.2)


def close(met):
    for connections in met:
        for connection in connections.values():
            connection.close()


@pytest.mark.parametrize("both", [True, False])
def test_rank_zero_meets_every_other(monkeypatch, both):
    if not both:
        monkeypatch.setattr(socket, "has_dualstack_ipv6", lambda: False)
    met = run_ranks(3, meeting.connect_to_first)
    assert [sorted(each) for each in met] == [[1, 2], [0], [0]]
    for rank in (1, 2):
        met[rank][0].sendall(b"%d" % rank)
        assert met[0][rank].recv(1) == b"%d" % rank
    close(met)


def test_strangers_are_not_taken_in(monkeypatch):
    plain, strangers = meeting._accept, []

    def accept(listener, token, size):
        port = listener.getsockname()[1]
        greetings = (
            b"",
            b"GET / HTTP/1.1\r\n\r\n",
            b"x" * 16 + b"\0\0\0\1",
            token + b"\0\0\0\7",
        )
        for greeting in greetings:
            strangers.append(socket.create_connection(("127.0.0.1", port)))
            strangers[-1].sendall(greeting)
        return plain(listener, token, size)

    monkeypatch.setattr(meeting, "_SECONDS_TO_MEET", 5.0)
    monkeypatch.setattr(meeting, "_accept", accept)
    met = run_ranks(2, meeting.connect_to_first)
    assert [sorted(each) for each in met] == [[1], [0]]
    met[1][0].sendall(b"me")
    assert met[0][1].recv(2) == b"me"
    close([*met, dict(enumerate(strangers))])


@pytest.mark.parametrize("what", ["_call", "_listener"])
def test_ranks_that_cannot_meet_go_on_without(monkeypatch, what):
    monkeypatch.setattr(meeting, what, lambda *given: {} if what == "_call" else None)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        assert run_ranks(3, meeting.connect_to_first) == [{}, {}, {}]
    assert len(caught) == 1  # rank 0 alone speaks
    assert "got none from rank 1, 2. Training goes on" in str(caught[0].message)


def test_a_call_that_nobody_takes_is_no_connection():
    with socket.socket() as nobody:
        nobody.bind(("127.0.0.1", 0))
        assert meeting._call(nobody.getsockname()[1], b"hello") == {}
