"""One fit of coded rows by several ranks on this machine, against one: wall seconds.

A part of ``scale.py``; by itself: ``python benchmarks/_ranks.py 1000000 2``. Every rank is a
process with one thread and its share of the rows. Ranks wait for each other before the clock
starts; one and two ranks take turns, and the least seconds of each count, for other work only adds.
"""

import json
import os
import socket
import subprocess
import sys
import time
from typing import Any

import numpy as np

TURNS = 5


def ranks(n_rows: int, n_groups: int, size: int = 2, turns: int = TURNS) -> dict[str, Any]:
    """Return the seconds of one rank and of several, and how many times as fast they are."""
    seconds: dict[int, list[float]] = {1: [], size: []}
    for _ in range(turns):
        for count, found in seconds.items():
            found.append(_fitted(n_rows, n_groups, count))
    alone, together = (min(found) for found in seconds.values())
    return {
        "rows": n_rows,
        "groups": n_groups,
        "seconds, 1 rank": alone,
        f"seconds, {size} ranks": together,
        "times as fast": alone / together,
    }


def _fitted(n_rows: int, n_groups: int, size: int) -> float:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = str(probe.getsockname()[1])
    place = {"WORLD_SIZE": str(size), "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": port}
    started = [
        subprocess.Popen(
            [sys.executable, __file__, "--rank", str(n_rows), str(n_groups)],
            env={**os.environ, **place, "RANK": str(rank), "OMP_NUM_THREADS": "1"},
            stdout=subprocess.PIPE,
            text=True,
        )
        for rank in range(size)
    ]
    printed = [process.communicate()[0] for process in started]
    return max(json.loads(line.splitlines()[-1]) for line in printed)


def _rank(n_rows: int, n_groups: int) -> None:
    import torch
    from _scale_tables import coded

    from fairsmooth import FairSmoothClassifier
    from fairsmooth.data.groups import Groups
    from fairsmooth.distributed.process_group import joined
    from fairsmooth.training.example import Example

    torch.set_num_threads(1)
    with joined() as together:
        rows, y, groups = coded(n_rows, n_groups)
        ends = [n_rows * part // together.size for part in (together.rank, together.rank + 1)]
        own = slice(*ends)
        labels = tuple(range(n_groups))
        example = Example(
            rows.take(own).packed(), y[own], Groups(labels, groups[own].astype(np.intp)),
            names=rows.names, ranks=together,
        )  # fmt: skip
        together.gather(None)
        began = time.perf_counter()
        FairSmoothClassifier(random_state=0).fit_share(example)
        print(json.dumps(time.perf_counter() - began))


if __name__ == "__main__":
    if sys.argv[1] == "--rank":
        _rank(*map(int, sys.argv[2:]))
    else:
        print(json.dumps(ranks(*map(int, sys.argv[1:]))))
