"""Smooth scores per second, one thread: linear models beside LogisticRegression, hidden layers.

Linear: `predict_proba` of 100,000 rows and 40 columns, both sides checked and timed alike, in
turns and in processor seconds; the ratio is of the fastest runs. Hidden layers: 4,096 rows, 100
inputs and 64 units, with the largest error claimed, as a multiple of the rows per second of
100,000 weight draws of the same network (`smoothing.py`), for which 1,000 rows and 250 draws are
timed. With ``--against FOLDER``, the sources of another version, also as a multiple of that
version, in processor seconds of the least of several runs in turns.
"""

import time
import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np
import torch
from _report import Goal, Row, arguments, at_least, at_most, fastest, report
from _worker import ask, start
from sklearn.linear_model import LogisticRegression
from smoothing import BLOCK, N_DRAWS, N_INPUTS, N_ROWS, Case, naive_block, problem

import fairsmooth
from fairsmooth import FairSmoothClassifier
from fairsmooth.core.architecture import Network
from fairsmooth.core.smoothing import smooth_probability

COLUMNS, ROWS, HIDDEN_ROWS = 40, 100_000, 4096
SHARES = {"probit": 0.5, "logistic": 0.25}


def linear(repeats: int) -> tuple[list[Row], list[Goal]]:
    """Compare rows per second of linear models of either link with LogisticRegression's."""
    rng = np.random.default_rng(0)
    X, rows = rng.normal(size=(2000, COLUMNS)), rng.normal(size=(ROWS, COLUMNS))
    y, group = (X[:, 0] + rng.normal(size=2000) > 0).astype(int), rng.integers(0, 2, 2000)
    plain = LogisticRegression().fit(X, y)
    table, goals = [], []
    for link, share in SHARES.items():
        for sigma in (0.1, 0.5, 1.0):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # three iterations are enough to predict with
                model = FairSmoothClassifier(link=link, sigma=sigma, max_iter=3)
                model.fit(X, y, sensitive_features=group)
            ours, theirs = in_turns(model, plain, rows, repeats)
            table.append(
                {
                    "link": link,
                    "sigma": sigma,
                    "rows/s": ROWS / ours,
                    "LogisticRegression": ROWS / theirs,
                    "ratio": theirs / ours,
                }
            )
            name = f"of LogisticRegression's rows/s, {link}, sigma={sigma:g}"
            goals.append(at_least(name, theirs / ours, share))
    return table, goals


def in_turns(ours: object, theirs: object, rows: np.ndarray, repeats: int) -> tuple[float, float]:
    """Return the least seconds of both: in turns, other work on the machine is fair to both."""
    least = [float("inf"), float("inf")]
    for _ in range(repeats):
        for side, model in enumerate((ours, theirs)):
            start = time.process_time()
            model.predict_proba(rows)  # type: ignore[attr-defined]
            least[side] = min(least[side], time.process_time() - start)
    return least[0], least[1]


def hidden(repeats: int) -> tuple[list[Row], list[Goal]]:
    """Return rows per second of one hidden layer, by activation and noise."""
    table, goals = [], []
    for sigma in (0.1, 0.5, 1.0):
        case = Case((64,), sigma, 0.0)
        parameters, X = problem(case)
        narrow = parameters.float(), X.float()
        naive = fastest(lambda n=narrow, c=case: naive_block(c.network, *n, c.sigma), repeats=5)
        drawn = N_ROWS / (naive * N_DRAWS / BLOCK)
        rows = torch.randn(HIDDEN_ROWS, N_INPUTS, generator=torch.Generator().manual_seed(1))
        for activation in ("relu", "tanh", "silu"):
            network = replace(case.network, activation=activation)
            seconds = fastest(
                lambda n=network, p=parameters, s=sigma, r=rows: smooth_probability(
                    n, p, r.double(), sigma=s
                ),
                repeats=repeats,
            )
            error = largest_claim(network, parameters, rows, sigma)
            rate = HIDDEN_ROWS / seconds
            table.append(
                {
                    "activation": activation,
                    "sigma": sigma,
                    "rows/s": rate,
                    "times weight draws": rate / drawn,
                    "largest claimed error": error,
                }
            )
            goals.append(at_most(f"claimed error, {activation}, sigma={sigma:g}", error, 5e-7))
            name = f"times weight draws, {activation}, sigma={sigma:g}"
            goals.append(at_least(name, rate / drawn, 150.0))
    return table, goals


def largest_claim(
    network: Network, parameters: torch.Tensor, rows: torch.Tensor, sigma: float
) -> float:
    options = {"sigma": sigma, "return_interval": True}
    _, interval = smooth_probability(network, parameters, rows[:512].double(), **options)
    return float((interval[:, 1] - interval[:, 0]).max()) / 2.0


# How many times faster than before, by activation and noise, for 4,096 rows.
FASTER = {("relu", 0.1): 1.5, ("relu", 0.5): 3.0, ("relu", 1.0): 3.0} | {
    (activation, sigma): 10.0 for activation in ("tanh", "silu") for sigma in (0.1, 0.5, 1.0)
}
FEW_ROWS, NEVER_SLOWER = (1, 16, 256), 1.0


def compare(sources: str, repeats: int) -> tuple[list[Row], list[Goal]]:
    """Compare with another version: many rows, and few."""
    workers = [start(sources), start(str(Path(fairsmooth.__file__).parents[1]))]
    table, goals = [], []
    questions = [(activation, sigma, HIDDEN_ROWS) for activation, sigma in FASTER]
    questions += [(activation, 0.5, n) for activation in ("relu", "tanh", "silu") for n in FEW_ROWS]
    for activation, sigma, n_rows in questions:
        many = n_rows == HIDDEN_ROWS
        runs = [
            [ask(worker, activation, sigma, n_rows) for worker in workers]
            for _ in range(repeats if many else 4 * repeats)
        ]
        before, after = (min(run[side][0] for run in runs) for side in (0, 1))
        claimed = max(run[1][1] for run in runs)
        name = f"{activation}, sigma={sigma:g}, {n_rows:,} rows"
        table.append(
            {
                "layer": name,
                "rows/s before": n_rows / before,
                "rows/s": n_rows / after,
                "times faster": before / after,
                "largest claimed error": claimed,
            }
        )
        goal = FASTER[activation, sigma] if many else NEVER_SLOWER
        goals.append(at_least(f"times faster, {name}", before / after, goal))
    for worker in workers:
        worker.terminate()
    return table, goals


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--against", metavar="FOLDER", help="sources of another version")
    options = parser.parse_args()
    torch.set_num_threads(1)
    rows, goals = linear(10 if options.quick else 60)
    more, others = hidden(1 if options.quick else 5)
    if options.against:
        table, wanted = compare(options.against, 2 if options.quick else 5)
        more, others = [*more, *table], [*others, *wanted]
    report([*goals, *others], [*rows, *more], as_json=options.json)


if __name__ == "__main__":
    main()
