"""How long one waits for the first answer: help, import, one row.

Everything is a ratio or a difference to something that users know, measured in the same run:
``python -c "import typer, rich"`` for the command line, ``python -c pass`` for the import, and
scikit-learn's LogisticRegression for one row. Processes are timed by the processor
time that they use, which other work on the machine hardly changes; each figure is the least
of several.
"""

import resource
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from _report import Goal, Row, arguments, at_most, report
from sklearn.linear_model import LogisticRegression
from threadpoolctl import threadpool_limits

from fairsmooth import FairSmoothClassifier
from fairsmooth.datasets import make_biased

HELP = "from fairsmooth.cli.main import run; import sys; sys.argv = ['fairsmooth', '--help']; run()"
COMMANDS = {
    "python -c pass": "pass",
    "import fairsmooth": "import fairsmooth",
    "import typer, rich": "import typer, rich",
    "fairsmooth --help": HELP,
}


def processor_seconds(statements: Mapping[str, str], *, repeats: int) -> dict[str, float]:
    """Return the least user and system time of a new Python that runs each statement, in turns."""
    best = dict.fromkeys(statements, float("inf"))
    for _ in range(repeats):
        for name, statement in statements.items():
            before = _children()
            subprocess.run([sys.executable, "-c", statement], check=True, stdout=subprocess.DEVNULL)
            best[name] = min(best[name], _children() - before)
    return best


def _children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def latencies(actions: Sequence[Callable[[], Any]], *, rounds: int, calls: int) -> list[float]:
    """Return the least microseconds per call of each action, measured in turns."""
    best = [float("inf")] * len(actions)
    for _ in range(rounds):
        for position, action in enumerate(actions):
            began = time.perf_counter()
            for _ in range(calls):
                action()
            best[position] = min(best[position], (time.perf_counter() - began) / calls)
    return [1e6 * seconds for seconds in best]


def one_row(*, rounds: int) -> list[Row]:
    """Time ``predict_proba`` of one row, as an array and as a frame, for both links."""
    data = make_biased(n_samples=2000, n_features=20, n_groups=2, random_state=0)
    rows: list[Row] = []
    for kind, X in (("array", data.X.to_numpy()), ("frame", data.X)):
        row = X[:1].copy()
        plain = LogisticRegression().fit(X, data.y)
        for link in ("logistic", "probit"):
            ours = FairSmoothClassifier(link=link, random_state=0)
            ours.fit(X, data.y, sensitive_features=data.sensitive_features)
            pair = [lambda m=model: m.predict_proba(row) for model in (plain, ours)]  # type: ignore[misc]  # noqa: B023
            theirs, mine = latencies(pair, rounds=rounds, calls=50)
            rows.append(
                {
                    "one row": kind,
                    "link": link,
                    "LogisticRegression µs": theirs,
                    "FairSmooth µs": mine,
                    "times": mine / theirs,
                }
            )
    return rows


def measure(*, quick: bool) -> tuple[list[Goal], list[Row]]:
    seconds = processor_seconds(COMMANDS, repeats=3 if quick else 15)
    latency = one_row(rounds=20 if quick else 60)
    worst = max(row["times"] for row in latency)
    goals = [
        at_most(
            'fairsmooth --help, times python -c "import typer, rich"',
            seconds["fairsmooth --help"] / seconds["import typer, rich"],
            1.2,
        ),
        at_most(
            "import fairsmooth, seconds more than python -c pass",
            seconds["import fairsmooth"] - seconds["python -c pass"],
            0.25,
        ),
        at_most("one row, times LogisticRegression", worst, 1.3),
    ]
    rows: list[Row] = [{"process": name, "seconds": taken} for name, taken in seconds.items()]
    return goals, rows + latency


def main() -> None:
    options = arguments(__doc__).parse_args()
    threadpool_limits(1)
    torch.set_num_threads(1)
    goals, rows = measure(quick=options.quick)
    report(goals, rows, as_json=options.json)


if __name__ == "__main__":
    main()
