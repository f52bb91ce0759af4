"""Ranks that share one import of the library: real processes, forked, without torchrun.

Run as a program with a folder, a number of ranks, a port and the words of a command. What
rank 1 prints is in ``out1`` and ``err1``, how it ended in ``code1``; ``pids`` has all ids, and
``going`` appears when the ranks have added something up a number of times.
"""

import os
import socket
import subprocess
import sys
import time
from pathlib import Path

import fairsmooth

_MANY = 150


def start(folder, size, port, *words):
    """Start the ranks of a command; they are there once ``pids`` is."""
    source = str(Path(fairsmooth.__file__).parents[1])
    return subprocess.Popen(
        [sys.executable, __file__, str(folder), str(size), port, *map(str, words)],
        env={**os.environ, "PYTHONPATH": source, "OMP_NUM_THREADS": "1"},
    )


def free_port():
    """Return a port that nobody listens at."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return str(probe.getsockname()[1])


def wait_for(path, process, seconds=120.0):
    """Wait until a file is there."""
    for _ in range(int(seconds / 0.05)):
        if path.exists():
            return
        assert process.poll() is None, f"it ended before {path.name}"
        time.sleep(0.05)
    raise AssertionError(f"{path} did not appear")


def _watch(mark):
    from fairsmooth.distributed.process_group import TorchRanks

    plain, done = TorchRanks.sum, []

    def counted(self, values):
        done.append(0)
        if len(done) == _MANY:
            mark.touch()
        return plain(self, values)

    TorchRanks.sum = counted


def _rank(folder, rank, size, port, words):
    for name, descriptor in (("out", 1), ("err", 2)):
        os.dup2(os.open(folder / f"{name}{rank}", os.O_CREAT | os.O_WRONLY, 0o600), descriptor)
    place = {"RANK": rank, "WORLD_SIZE": size, "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": port}
    os.environ.update({name: str(value) for name, value in place.items()})
    sys.argv = ["fairsmooth", *words]
    from fairsmooth.cli.main import run

    run()  # ends as a program does, with all that Python does at its end


def _program(folder, size, port, *words):
    import fairsmooth.cli.ranked  # noqa: F401 - once, for all ranks

    folder = Path(folder)
    _watch(folder / "going")
    pids = []
    for rank in range(int(size)):
        pids.append(os.fork())
        if not pids[-1]:
            _rank(folder, rank, size, port, words)
    (folder / "pids.part").write_text(" ".join(map(str, pids)))
    (folder / "pids.part").rename(folder / "pids")
    for _ in pids:
        pid, status = os.wait()
        if os.WIFEXITED(status):
            (folder / f"code{pids.index(pid)}").write_text(str(os.WEXITSTATUS(status)))


if __name__ == "__main__":
    _program(*sys.argv[1:])
