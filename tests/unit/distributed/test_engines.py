"""What the engines refuse, without starting any."""

import socket
import time
from contextlib import contextmanager

import pytest

from fairsmooth.distributed import cluster, process_group
from fairsmooth.distributed.launch import number_of_ranks
from fairsmooth.distributed.parts import work_on_parts
from fairsmooth.distributed.pulse import VARIABLE
from fairsmooth.exceptions import InputError

PLACE = {"RANK": "1", "WORLD_SIZE": "2", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": "1"}


def placed(monkeypatch, **changes):
    for name, value in {**PLACE, **changes}.items():
        monkeypatch.setenv(name, value)


def test_a_process_alone_is_one_rank(monkeypatch):
    placed(monkeypatch)
    assert number_of_ranks() == 2
    monkeypatch.delenv("MASTER_ADDR")
    assert number_of_ranks() == 1


@pytest.mark.parametrize("changes", [{"RANK": "2"}, {"WORLD_SIZE": "many"}])
def test_a_place_that_cannot_be_is_refused(monkeypatch, changes):
    placed(monkeypatch, **changes)
    with pytest.raises(InputError, match="Expected RANK below WORLD_SIZE, got"):
        number_of_ranks()


def test_ranks_that_cannot_be_met_are_one_line(monkeypatch):
    def lost(*given, **named):
        raise RuntimeError("no route\nand a trace")

    placed(monkeypatch)
    monkeypatch.setattr(process_group, "rendezvous", lost)
    with (
        pytest.raises(
            process_group.LostRank, match=r"meet 2 ranks within 60 s .*, got: no route Noth"
        ),
        process_group.joined(),
    ):
        pass


@pytest.mark.parametrize("rank", ["0", "1"])
def test_a_rank_that_never_comes_is_not_waited_for_as_one_at_work(monkeypatch, rank):
    """It was for half an hour, so a rank that was killed as it began held all others up."""
    placed(monkeypatch, RANK=rank, MASTER_PORT=free_port())
    assert_unmet(monkeypatch, r"meet 2 ranks within 2 s .*, got: .*[Tt]imed out after")


def test_who_never_comes_is_named(monkeypatch):
    """Where torchrun keeps the store, whose end no rank is."""
    port = free_port()
    placed(monkeypatch, MASTER_PORT=port, TORCHELASTIC_USE_AGENT_STORE="True")
    how = {"is_master": True, "wait_for_workers": False}
    store = process_group.dist.TCPStore("127.0.0.1", int(port), **how)
    store.set("unused", "")
    assert_unmet(monkeypatch, r"meet 2 ranks within 2 s .*, got: no sign of rank 0\. Nothing was")


def assert_unmet(monkeypatch, message):
    monkeypatch.setenv(VARIABLE, "1")
    monkeypatch.setattr(process_group, "_LEAST_TO_MEET", 2.0)
    began = time.monotonic()
    with pytest.raises(process_group.LostRank, match=message), process_group.joined():
        pass
    assert time.monotonic() - began < 20.0


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as taken:
        return str(taken.getsockname()[1])


class Client:
    def __init__(self, threads, version):
        self.threads, self.version = threads, version

    def nthreads(self):
        return self.threads

    def run(self, function):
        return dict.fromkeys(self.threads, self.version)


@pytest.mark.parametrize(
    ("threads", "version", "message"),
    [
        ({}, "", "Expected workers at the scheduler tcp://x, got none"),
        ({"w": 1}, "0.0.1", "Expected fairsmooth .* on every worker, got 0.0.1 on w"),
    ],
)
def test_a_cluster_that_cannot_work_is_refused(monkeypatch, threads, version, message):
    @contextmanager
    def client(address):
        yield Client(threads, version)

    monkeypatch.setattr(cluster, "_client", client)
    with pytest.raises(InputError, match=message), cluster.on_cluster("tcp://x"):
        pass


def test_dask_is_an_extra(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "distributed", None)
    with pytest.raises(InputError, match=r"pip install 'fairsmooth\[cluster\]'"):
        list(work_on_parts(len, ["a"], scheduler="tcp://x"))


def refuse(job):
    raise InputError(f"Expected better, got {job}.")


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_what_is_refused_keeps_its_words(n_jobs):
    with pytest.raises(InputError, match=r"Expected better, got a\."):
        list(work_on_parts(refuse, ["a"], n_jobs=n_jobs))
