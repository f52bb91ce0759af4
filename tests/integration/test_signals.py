"""A signal in the middle of the work: one line, the right exit code, nothing left behind."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import fairsmooth
from fairsmooth.cli.main import main

PROGRAM = "from fairsmooth.cli.main import run; run()"
ROLES = ["--label", "y", "--sensitive", "sex"]
WORDS = {signal.SIGINT: "Interrupted.", signal.SIGTERM: "Terminated.", signal.SIGHUP: "Terminated."}


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    folder = tmp_path_factory.mktemp("signals")
    random = np.random.default_rng(0)
    n = 4000
    table = pd.DataFrame(random.normal(size=(n, 6)), columns=list("abcdef"))
    table = table.assign(sex=random.choice(["f", "m"], n), y=(table["a"] > 0).astype(int))
    table.to_csv(folder / "data.csv", index=False)
    return folder / "data.csv"


def start(*words):
    source = str(Path(fairsmooth.__file__).parents[1])
    return subprocess.Popen(
        [sys.executable, "-c", PROGRAM, *map(str, words)],
        env={**os.environ, "PYTHONPATH": source, "OMP_NUM_THREADS": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def wait_for(path, process):
    for _ in range(1200):
        if path.exists() and path.stat().st_size > 200:
            return
        assert process.poll() is None, process.communicate()
        time.sleep(0.05)
    raise AssertionError(f"{path} did not appear")


def children(group):
    """Return the processes of a session, by what the system says."""
    found = []
    for folder in Path("/proc").iterdir():
        if folder.name.isdecimal():
            try:
                fields = (folder / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            if int(fields[3]) == group and fields[0] not in "ZX":
                found.append(int(folder.name))
    return found


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs /proc to find processes")
@pytest.mark.parametrize(("number", "jobs"), [(signal.SIGINT, 1), (signal.SIGTERM, 2)])
def test_a_search_ends_at_once_with_its_processes(data, tmp_path, number, jobs):
    process = start("tune", data, *ROLES, "--trials", 500, "--jobs", jobs, "-o", tmp_path / "out")
    wait_for(tmp_path / "out" / "trials.jsonl", process)
    process.send_signal(number)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 128 + number
    assert out == ""
    lines = [line for line in err.splitlines() if line.strip()]
    assert lines == [WORDS[number]], err
    for _ in range(100):
        if not children(process.pid):
            break
        time.sleep(0.1)
    assert not children(process.pid)
    assert {path.name for path in (tmp_path / "out").iterdir()} == {"trials.jsonl"}


def test_a_table_being_written_is_not_left_half(data, tmp_path):
    assert main(["train", str(data), *ROLES, "--max-iter", "20", "-o", str(tmp_path / "m")]) == 0
    header, *rows = data.read_text().splitlines(keepends=True)
    (tmp_path / "large.csv").write_text(header + "".join(rows) * 100)
    before = {path.name for path in tmp_path.iterdir()}
    process = start("predict", tmp_path / "m", tmp_path / "large.csv", "-o", tmp_path / "p.csv")
    while not {path.name for path in tmp_path.iterdir() if path.stat().st_size} - before:
        assert process.poll() is None, process.communicate()
        time.sleep(0.02)
    process.send_signal(signal.SIGHUP)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 129, err
    assert out == ""
    assert err.strip() == "Terminated."
    assert {path.name for path in tmp_path.iterdir()} == before


STILL_READING = """
import atexit, io, sys, time
import pyarrow.csv

class Slow(io.RawIOBase):
    reads = 0
    def readable(self):
        return True
    def readinto(self, buffer):
        Slow.reads += 1
        if Slow.reads > 3:
            time.sleep(1.0)
        lines = b"a,b\\n" + b"1,2\\n" * 200
        buffer[:len(lines)] = lines
        return len(lines)

options = pyarrow.csv.ReadOptions(block_size=1000)
reader = pyarrow.csv.open_csv(Slow(), read_options=options)
reader.read_next_batch()
atexit.register(lambda: print("the end was reached"))
from fairsmooth.cli.main import program
program()
"""


def test_a_thread_of_arrow_that_still_reads_does_not_change_the_exit_code():
    source = str(Path(fairsmooth.__file__).parents[1])
    ended = subprocess.run(
        [sys.executable, "-c", STILL_READING, "verify", "nowhere.safetensors"],
        env={**os.environ, "PYTHONPATH": source, "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert ended.returncode == 2, ended.stderr
    assert ended.stderr == "Error: Expected a model file, found none at nowhere.safetensors.\n"
    assert ended.stdout == "the end was reached\n"
