"""Smooth scores of a (64, 32) network against other versions, at equal width of the intervals.

``--against FOLDER`` names the sources of another version, and may be repeated. That version scores
1,024 rows of 100 inputs with its default number of draws. This one gets as few draws, in steps
of 128, as make its intervals no wider on average. Processor seconds of one thread, the least of
several runs in turns; intervals hold with 99 % each.
"""

import json
import subprocess
import sys
import time
from pathlib import Path

from _report import Goal, Row, arguments, at_least, report
from _worker import ask, start

import fairsmooth

SIGMAS = (0.1, 0.5, 1.0)
N_ROWS, N_INPUTS, DRAWS, STEP = 1024, 100, 4096, 128


def answer(sigma: float, n_draws: int, intervals: bool) -> tuple[float, float]:
    """Return processor seconds of one scoring, and the mean width of its intervals."""
    import torch

    from fairsmooth.core.architecture import Network
    from fairsmooth.core.smoothing import smooth_probability

    torch.set_num_threads(1)
    generator = torch.Generator().manual_seed(0)
    layers = []
    for wide, narrow in ((N_INPUTS, 64), (64, 32), (32, 1)):
        layers += [torch.randn(narrow * wide, generator=generator) / wide**0.5, torch.zeros(narrow)]
    rows = torch.randn(N_ROWS, N_INPUTS, generator=generator).double()
    start = time.process_time()
    found = smooth_probability(
        Network(N_INPUTS, (64, 32)),
        torch.cat(layers).double(),
        rows,
        sigma=sigma,
        n_draws=n_draws,
        return_interval=intervals,
    )
    seconds = time.process_time() - start
    return seconds, float((found[1][:, 1] - found[1][:, 0]).mean()) if intervals else 0.0


def draws_for(worker: "subprocess.Popen[str]", sigma: float, width: float) -> int:
    """Return the fewest draws, in steps, whose intervals are at most so wide on average."""
    low, high = 0, DRAWS // STEP
    while high - low > 1:
        middle = (low + high) // 2
        wide = ask(worker, sigma, middle * STEP, True)[1] > width
        low, high = (middle, high) if wide else (low, middle)
    return high * STEP


def compare(sources: str, repeats: int) -> tuple[list[Row], list[Goal]]:
    here = str(Path(fairsmooth.__file__).parents[1])
    before, after = (start(each, __file__, "--worker") for each in (sources, here))
    rows, goals = [], []
    for sigma in SIGMAS:
        width = ask(before, sigma, DRAWS, True)[1]
        draws = draws_for(after, sigma, width)
        asked = ((before, DRAWS), (after, draws), (before, DRAWS), (after, DRAWS))
        kinds = (True, True, False, False)
        least = [float("inf")] * 4
        for _ in range(repeats):
            for place, ((worker, n_draws), kind) in enumerate(zip(asked, kinds, strict=True)):
                least[place] = min(least[place], ask(worker, sigma, n_draws, kind)[0])
        row = {
            "against": Path(sources).parent.name,
            "sigma": sigma,
            "mean width": width,
            "draws before": DRAWS,
            "draws": draws,
            "rows/s before": N_ROWS / least[0],
            "rows/s": N_ROWS / least[1],
            "times, equal width": least[0] / least[1],
            "times, no interval": least[2] / least[3],
        }
        rows.append(row)
        name = f"times {row['against']}, (64, 32), sigma={sigma:g}, equal width"
        goals.append(at_least(name, row["times, equal width"], 3.0))
    before.terminate()
    after.terminate()
    return rows, goals


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--against", metavar="FOLDER", action="append", default=[])
    parser.add_argument("--worker", action="store_true", help="answer questions, one a line")
    options = parser.parse_args()
    if options.worker:
        for line in sys.stdin:
            print(json.dumps(answer(*json.loads(line))), flush=True)
        return
    rows: list[Row] = []
    goals: list[Goal] = []
    # Beside itself it shows that the comparison is fair.
    for sources in options.against or [str(Path(fairsmooth.__file__).parents[1])]:
        more, others = compare(sources, 1 if options.quick else 3)
        rows, goals = [*rows, *more], [*goals, *(others if options.against else [])]
    report(goals, rows, as_json=options.json)


if __name__ == "__main__":
    main()
