"""Claimed errors of exact smoothing against an independent reference, over random networks.

One row per network: 1 to 1,000 units, sigma .01 to 5, inputs of size 1e-6 to 1e6, weights to
10, logistic or probit link, and every tenth a layer of equal units at 0, whose
characteristic function dies and revives. Every other row is scored in company, 23 rows of other
lengths with which it shares nodes. A violation is a reference outside the interval
that ``smooth_probability`` returns, by more than the reference's own error.
"""

import math
import time

import numpy as np
from _reference import Layer, reference_score
from _report import Row, arguments, at_least, at_most, report
from joblib import Parallel, delayed

from fairsmooth.core.architecture import Network
from fairsmooth.core.smoothing import smooth_probability

ACTIVATIONS = ("relu", "tanh", "silu")
# Beyond rounding in the reference's own sums.
SLACK = 1e-10
UNSURE = 1e-8
# Rows scored together, the one that is checked first.
COMPANY = 24


def problem(index: int) -> tuple[Network, np.ndarray, np.ndarray, float, str]:
    """Return network number ``index``: architecture, parameters, row, sigma, link."""
    rng = np.random.default_rng([index, 2022])
    width = round(10.0 ** rng.uniform(0, 3))
    n_inputs = int(rng.choice([1, 3, 10]))
    network = Network(n_inputs, (width,), ACTIVATIONS[index % 3])
    inner, outer = (10.0 ** rng.uniform(-2, 1, size=2)).tolist()
    hidden = rng.uniform(-inner, inner, size=(width, n_inputs + 1))
    out = rng.uniform(-outer, outer, size=width)
    if index // 3 % 10 == 0:
        hidden[:], out[:] = 0.0, outer
    x = rng.normal(size=n_inputs)
    x *= 10.0 ** rng.uniform(-6, 6) / np.linalg.norm(x)
    sigma = 10.0 ** rng.uniform(-2, math.log10(5.0))
    bias = float(rng.uniform(-10, 10))
    parameters = np.concatenate([hidden[:, :-1].ravel(), hidden[:, -1], out, [bias]])
    return network, parameters, x[None, :], sigma, str(rng.choice(["logistic", "probit"]))


def layer(network: Network, parameters: np.ndarray, x: np.ndarray, sigma: float) -> Layer:
    """Lay the row out for the reference, without the library's code."""
    width, n_inputs = network.hidden_layer_sizes[0], network.n_features
    weight = parameters[: width * n_inputs].reshape(width, n_inputs)
    bias = parameters[width * n_inputs : width * (n_inputs + 1)]
    mean = weight @ x[0] + bias
    scale = sigma * math.hypot(1.0, float(np.linalg.norm(x)))
    return Layer(
        network.activation, mean, scale, parameters[-width - 1 : -1], parameters[-1], sigma
    )


def check(index: int) -> Row:
    """Compare one network's score, interval and seconds with the reference."""
    network, parameters, x, sigma, link = problem(index)
    options = {"sigma": sigma, "link": link, "return_interval": True}
    rows = x * np.geomspace(1.0, 8.0, COMPANY)[:, None] if index // 3 % 2 else x
    start = time.process_time()
    score, interval = smooth_probability(network, parameters, rows, **options)
    seconds = (time.process_time() - start) / len(rows)
    truth, doubt = reference_score(layer(network, parameters, x, sigma), link)
    low, high = interval[0]
    return {
        "index": index,
        "activation": network.activation,
        "error": abs(float(score[0]) - truth),
        "claimed": max(high - score[0], score[0] - low),
        "outside": max(low - truth, truth - high) - SLACK,
        "seconds": seconds,
        "doubt": doubt,
        "informative": 1e-6 < truth < 1.0 - 1e-6,
    }


def summary(activation: str, rows: list[Row]) -> Row:
    """Return one line of the table."""
    own = [row for row in rows if row["activation"] == activation and row["doubt"] <= UNSURE]
    claimed = [row["claimed"] for row in own]
    return {
        "activation": activation,
        "networks": len(own),
        "scores in (1e-6, 1 - 1e-6)": sum(row["informative"] for row in own),
        "violations": sum(row["outside"] > 0 for row in own),
        "largest error": max(row["error"] for row in own),
        "median claimed": float(np.median(claimed)),
        "claimed above 1e-6": sum(value > 1e-6 for value in claimed),
        "slowest row, processor seconds": max(row["seconds"] for row in own),
        "reference unsure": sum(
            row["activation"] == activation and row["doubt"] > UNSURE for row in rows
        ),
    }


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--networks", type=int, help="how many (2,000; 60 with --quick)")
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    options = parser.parse_args()
    count = options.networks or (60 if options.quick else 2000)
    rows = Parallel(n_jobs=options.jobs)(delayed(check)(index) for index in range(count))
    table = [summary(activation, rows) for activation in ACTIVATIONS]
    violations = sum(line["violations"] for line in table)
    checked = sum(line["networks"] for line in table)
    slowest = "slowest row, processor seconds"
    goals = [
        at_most("violations of the claimed error", violations, 0),
        at_least("share of networks where the reference is sure", checked / count, 0.99),
        at_most(slowest, max(line[slowest] for line in table), 1.0),
    ]
    worst = sorted(rows, key=lambda row: -row["outside"])[:5]
    report(goals, [*table, *worst], as_json=options.json)


if __name__ == "__main__":
    main()
