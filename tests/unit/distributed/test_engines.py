"""What the engines refuse, without starting any."""

from contextlib import contextmanager

import pytest

from fairsmooth.distributed import cluster, process_group
from fairsmooth.distributed.launch import number_of_ranks
from fairsmooth.distributed.parts import work_on_parts
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
    monkeypatch.setattr(process_group.dist, "init_process_group", lost)
    with (
        pytest.raises(process_group.LostRank, match=r"Expected to meet 2 ranks, got: no route$"),
        process_group.joined(),
    ):
        pass


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
