"""A Dask cluster on loopback: the same records, though a worker is killed in the middle."""

import json
import os
import signal
import threading
import time

import pytest

from fairsmooth.cli.main import main

distributed = pytest.importorskip("distributed")

SOME = [
    "reproduce", "table1", "--profile", "smoke", "--only", "compas",
    "--methods", "fairsmooth", "--methods", "unconstrained", "--methods", "fairsmooth_s",
]  # fmt: skip
TIMES = {"seconds", "cpu_seconds"}


@pytest.fixture(scope="module")
def cluster():
    """Start a scheduler and two workers, each a process with one thread."""
    options = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": None}
    with distributed.LocalCluster(**options, host="127.0.0.1") as started:
        yield started


def records_of(folder):
    found = {}
    for line in (folder / "records.jsonl").read_text().splitlines():
        record = json.loads(line)
        found[record["key"]] = {name: record[name] for name in record if name not in TIMES}
    return found


def kill_one_worker(cluster, after):
    """Kill the process of a worker that is at work, once there is a first record."""
    while not (after.exists() and after.stat().st_size):
        time.sleep(0.05)
    with distributed.Client(cluster, set_as_default=False) as client:
        pids = client.run(os.getpid)
        busy = [worker for worker, tasks in client.processing().items() if tasks]
        os.kill(pids[(busy or list(pids))[0]], signal.SIGKILL)


def test_a_killed_worker_costs_no_record(cluster, tmp_path):
    whole, other = tmp_path / "whole", tmp_path / "other"
    assert main([*SOME, "--jobs", "1", "--out", str(whole)]) == 0
    killer = threading.Thread(target=kill_one_worker, args=(cluster, other / "records.jsonl"),
                              daemon=True)  # fmt: skip
    killer.start()
    code = main([*SOME, "--scheduler", cluster.scheduler_address, "--out", str(other)])
    killer.join()
    assert code == 0
    assert len(records_of(whole)) == 6
    assert records_of(other) == records_of(whole)


def test_no_scheduler_is_one_line(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("fairsmooth.distributed.cluster._SECONDS_TO_CONNECT", 1)
    assert main([*SOME, "--scheduler", "tcp://127.0.0.1:9", "--out", str(tmp_path / "x")]) == 2
    assert "Expected a Dask scheduler at tcp://127.0.0.1:9, got none there." in (
        capsys.readouterr().err
    )
