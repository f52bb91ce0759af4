"""Ranks that fall silent: noticed within the limit, named in one line; slow ones are not."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from tests.integration import forked_ranks

import fairsmooth
from fairsmooth.distributed.pulse import VARIABLE

pytestmark = pytest.mark.skipif(not hasattr(signal, "SIGSTOP"), reason="stops a process")
LIMIT = 4

# What a program of the user's does in every rank; it sees ranks, rank, limit and ports.
RANKS = """
import os, random, sys, time
from fairsmooth.distributed.process_group import joined

limit, ports = float(os.environ["FAIRSMOOTH_RANK_SECONDS"]), sys.argv[2].split()
pids = []
for rank in range(3):
    pids.append(os.fork())
    if not pids[-1]:
        os.environ.update(RANK=str(rank), WORLD_SIZE="3", MASTER_ADDR="127.0.0.1")
        for port in ports:
            os.environ["MASTER_PORT"] = port
            with joined() as ranks:
                exec(sys.argv[1])
        sys.exit()
sys.exit(max(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) for pid in pids))
"""


def run_program(what, limit, n_times=1):
    """Let three ranks do something, each time after they met anew."""
    ports = " ".join(forked_ranks.free_port() for _ in range(n_times))
    source = str(Path(fairsmooth.__file__).parents[1])
    return subprocess.run(
        [sys.executable, "-c", RANKS, what, ports],
        env={**os.environ, "PYTHONPATH": source, "OMP_NUM_THREADS": "1", VARIABLE: str(limit)},
        capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    draw, n = np.random.default_rng(0), 300
    frame = pd.DataFrame({"age": draw.integers(18, 70, n), "group": draw.choice(["a", "b"], n)})
    frame["hired"] = np.where(draw.random(n) < 0.4, "yes", "no")
    path = tmp_path_factory.mktemp("silent") / "all.csv"
    frame.to_csv(path, index=False)
    return path


def wait_until(done, seconds):
    until = time.monotonic() + seconds
    while not done():
        assert time.monotonic() < until, "it did not happen in time"
        time.sleep(0.05)


@pytest.mark.parametrize("silent", [0, 1])
def test_a_stopped_rank_ends_the_others_with_one_line(table, tmp_path, monkeypatch, silent):
    monkeypatch.setenv(VARIABLE, str(LIMIT))
    monkeypatch.setenv("TMPDIR", str(tmp_path / "temporary"))
    run, output = tmp_path / "run", tmp_path / "out" / "model.safetensors"
    for folder in (run, output.parent, tmp_path / "temporary"):
        folder.mkdir()
    roles, endless = ["--label", "hired", "--sensitive", "group"], ["--max-iter", "1000000"]
    started = forked_ranks.start(
        run, 3, forked_ranks.free_port(), "train", table, *roles, "-o", output, "--hidden", "8",
        *endless,
    )  # fmt: skip
    others = [rank for rank in range(3) if rank != silent]
    forked_ranks.wait_for(run / "going", started)
    forked_ranks.wait_for(run / "pids", started)
    pids = [int(pid) for pid in (run / "pids").read_text().split()]
    os.kill(pids[silent], signal.SIGSTOP)
    try:
        wait_until(lambda: all((run / f"code{rank}").exists() for rank in others), 10 * LIMIT)
    finally:
        os.kill(pids[silent], signal.SIGCONT)
        if not all((run / f"code{rank}").exists() for rank in others):
            for pid in pids:
                os.kill(pid, signal.SIGKILL)
    assert started.wait(30) == 0
    for rank in others:
        said = (run / f"err{rank}").read_text()
        assert (run / f"code{rank}").read_text() == "2", said
        assert len(said.strip().splitlines()) == 1, said
        assert f"got no sign of life from rank {silent} for" in said
        assert f"rank {rank} ends too. Nothing was written. Start all ranks again." in said
    # Awake again, the stopped one finds itself left alone; rank 0 would have told another so.
    said = (run / f"err{silent}").read_text()
    assert (run / f"code{silent}").read_text() == "2", said
    assert len(said.strip().splitlines()) == 1, said
    assert ("got one that ended" if silent == 0 else "this is rank 1, and the others went") in said
    assert list(output.parent.iterdir()) == []
    assert list((tmp_path / "temporary").iterdir()) == []


def test_a_slow_rank_is_waited_for():
    # Rank 0, which judges, and another one: both sleep longer than the limit, one at a time.
    slow = "[(rank == slow and time.sleep(1.5 * limit), ranks.sum([1])) for slow in (1, 0)]"
    done = run_program(slow, 2)
    assert (done.returncode, done.stderr) == (0, "")


def test_an_end_in_order_is_no_loss():
    # Rank 0, who has what the others met at, leaves long before them once; then in any order.
    apart = (
        "ranks.sum([1])\n"
        "late = port == ports[0] and rank > 0\n"
        "time.sleep(1.5 * limit if late else random.choice([0, 0.05, 0.2]))"
    )
    done = run_program(apart, 2, n_times=12)
    assert (done.returncode, done.stderr) == (0, "")


def test_a_rank_that_gave_up_but_lives_on_is_lost():
    # Its process keeps the connections of the work open; what ends without a word is its pulse.
    gave_up = (
        "rank == 1 and (ranks.part(in_order=False), time.sleep(9), os._exit(0)); ranks.sum([1])"
    )
    done = run_program(gave_up, 2)
    assert done.returncode == 1
    assert done.stderr.count("got no sign of life from rank 1 for 2 s") == 2
