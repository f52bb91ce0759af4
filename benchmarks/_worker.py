"""Seconds of one call after another, in a process of its own: another version's, if told so.

Processor seconds of one thread: on a busy machine they tell what a call costs.
"""

import json
import os
import subprocess
import sys
import time
from dataclasses import replace
from typing import Any


def start(sources: str, *command: str) -> "subprocess.Popen[str]":
    """Start a worker, this one or another, that imports the library from a folder of sources."""
    environment = os.environ | {"PYTHONPATH": sources, "OMP_NUM_THREADS": "1"}
    return subprocess.Popen(
        [sys.executable, *(command or (__file__,))],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=environment,
    )


def ask(worker: "subprocess.Popen[str]", *question: Any) -> tuple[float, float]:
    """Return processor seconds of one scoring, and how far off its scores may be."""
    assert worker.stdin is not None
    assert worker.stdout is not None
    worker.stdin.write(json.dumps(question) + "\n")
    worker.stdin.flush()
    seconds, claimed = json.loads(worker.stdout.readline())
    return float(seconds), float(claimed)


def answer(activation: str, sigma: float, n_rows: int) -> tuple[float, float]:
    import torch
    from smoothing import N_INPUTS, Case, problem

    from fairsmooth.core.smoothing import smooth_probability

    case = Case((64,), sigma, 0.0)
    parameters, _ = problem(case)
    network = replace(case.network, activation=activation)
    rows = torch.randn(n_rows, N_INPUTS, generator=torch.Generator().manual_seed(1)).double()
    start = time.process_time()
    _, ends = smooth_probability(network, parameters, rows, sigma=sigma, return_interval=True)
    return time.process_time() - start, float((ends[:, 1] - ends[:, 0]).max()) / 2.0


if __name__ == "__main__":
    for line in sys.stdin:
        print(json.dumps(answer(*json.loads(line))), flush=True)
