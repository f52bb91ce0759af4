"""Forecasts of label and group as columns: how good, how fast, and what each of them is worth.

Splits of 70/30, one thread, the group hidden. For the embedded tables and both sensitive columns:

* log loss on training rows out of fold and on test rows, and the slope of a logistic regression on
  the forecast log-odds: 1 if they are calibrated;
* seconds of learning (folds and refit) in one thread, beside one ``LogisticRegression`` on binned
  columns, and of forecasting new rows;
* test accuracy and gaps of the best linear rule on the training rows with the aim of 0.8 of every
  limit of the setting: of both forecasts (a linear program), of the label's alone (a threshold),
  and without limits. Their difference is what leaving out the forecast of the group costs.

The program is this file's own: it checks what the columns can bear, not the solver.
"""

import sys
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
from _report import Goal, Row, arguments, at_least, at_most, report
from scipy.optimize import linprog
from scipy.special import logit
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss

from fairsmooth.columns import Forecasts
from fairsmooth.data.encoding import TableEncoder
from fairsmooth.data.groups import encode_groups
from fairsmooth.datasets import load_adult, load_compas

SETTINGS = {
    "compas sex": (load_compas, "sex", (0.05, 0.10)),
    "compas race": (load_compas, "race", (0.03, 0.08)),
    "adult sex": (load_adult, "sex", (0.05, 0.08)),
    "adult race": (load_adult, "race", (0.04, 0.06)),
}
# Adult's test part is eight times as large, so one split of it tells as much.
SPLITS = {load_compas: 3, load_adult: 1}
LIGHTGBM = ("compas sex", "adult sex")
AIM = 0.8


def main() -> None:
    options = arguments(__doc__).parse_args()
    names = ["compas sex", "compas race"] if options.quick else list(SETTINGS)
    rows = []
    for name in names:
        boosters = ("sklearn", "lightgbm") if name in LIGHTGBM else ("sklearn",)
        for booster in boosters[: 1 if options.quick else None]:
            splits = 1 if options.quick else SPLITS[SETTINGS[name][0]]
            rows += [run(name, seed, booster) for seed in range(splits)]
            print(f"{name}, {booster}: done", file=sys.stderr, flush=True)
    means = _means(rows)
    report(_goals(means), _tables(means), as_json=options.json)


def run(name: str, seed: int, booster: str) -> Row:
    load, sensitive, limits = SETTINGS[name]
    data = load(encoding="raw", sensitive=sensitive)
    y, group = np.asarray(data.y), np.asarray(data.sensitive_features).astype(str)
    order = np.random.default_rng(seed).permutation(len(y))
    train, test = np.split(order, [round(0.7 * len(y))])
    codes = encode_groups(group, n_rows=len(y)).codes
    forecasts = Forecasts(booster=booster, unknown="ignore", random_state=seed)
    seconds, X = _timed(
        lambda: forecasts.fit_transform(data.X.iloc[train], y[train],
                                        sensitive_features=group[train])
    )  # fmt: skip
    per_row, new = _timed(lambda: forecasts.transform(data.X.iloc[test]))
    seen, unseen = (forecasts.encoder_.joint_of(columns) for columns in (X, new))
    return {
        "setting": name,
        "booster": booster,
        "seed": seed,
        "seconds": seconds,
        "regression_seconds": _regression(data.X.iloc[train], y[train]),
        "rows_per_second": len(test) / per_row,
        **_quality(seen, y[train], codes[train], "out_of_fold"),
        **_quality(unseen, y[test], codes[test], "test"),
        **_rules(seen, unseen, (y, codes, train, test), limits),
    }


def _quality(joint: np.ndarray, y: np.ndarray, codes: np.ndarray, where: str) -> Row:
    label, group = joint[:, :, 1].sum(axis=1), joint[:, 1].sum(axis=1)
    return {
        f"label_log_loss_{where}": log_loss(y, label),
        f"group_log_loss_{where}": log_loss(codes, group),
        f"label_slope_{where}": _slope(label, y),
        f"group_slope_{where}": _slope(group, codes),
    }


def _slope(forecast: np.ndarray, found: np.ndarray) -> float:
    odds = logit(forecast.clip(1e-9, 1 - 1e-9))[:, None]
    return float(LogisticRegression(C=1e6).fit(odds, found).coef_[0, 0])


def _rules(seen: np.ndarray, unseen: np.ndarray, rows: tuple, limits: tuple) -> Row:
    y, codes, train, test = rows
    aims = tuple(AIM * limit for limit in limits)
    weights = best_weights(seen, aims)
    both = ((unseen * weights).sum(axis=(1, 2)) > 0.0).astype(int)
    free = (unseen[:, :, 1].sum(axis=1) > 0.5).astype(int)
    label = [joint[:, :, 1].sum(axis=1) for joint in (seen, unseen)]
    alone = label[1] >= best_threshold(label[0], y[train], codes[train], aims)
    found: Row = {}
    for what, decided in (("free", free), ("label", alone), ("both", both)):
        gaps = _measured(decided, y[test], codes[test])
        found |= {f"{what}_{name}": value for name, value in gaps.items()}
    return found


def best_weights(joint: np.ndarray, aims: tuple[float, float]) -> np.ndarray:
    """Weights of the forecasts, shape (2, 2), in the best rule within the aims (two groups)."""
    gain = (joint[:, :, 1] - joint[:, :, 0]).sum(axis=1)
    shares = joint.mean(axis=0)
    contrasts = [
        joint.sum(axis=2) / shares.sum(axis=1),
        joint[:, :, 1] / shares[:, 1],
        joint[:, :, 0] / shares[:, 0],
    ]
    duals = _multipliers(gain, [c[:, 0] - c[:, 1] for c in contrasts], aims)
    # Gain less multipliers times contrasts, written as weights of the four forecasts.
    weights = np.array([[-1.0, 1.0], [-1.0, 1.0]])
    signs = np.array([1.0, -1.0])
    weights -= (duals[0] * signs / shares.sum(axis=1))[:, None]
    weights[:, 1] -= duals[1] * signs / shares[:, 1]
    weights[:, 0] -= duals[2] * signs / shares[:, 0]
    return weights


def best_threshold(
    forecast: np.ndarray, y: np.ndarray, codes: np.ndarray, aims: tuple[float, float]
) -> float:
    """Threshold of the label's forecast, all a linear rule of one column has, within the aims."""
    order = np.argsort(-forecast, kind="stable")

    def rates(keep: np.ndarray) -> np.ndarray:
        """Rate of those selected when the first 0, 1, 2, ... rows are."""
        return np.append(0.0, np.cumsum(keep[order])) / keep.sum()

    def gap(keep: np.ndarray) -> np.ndarray:
        return np.abs(rates(keep & (codes == 0)) - rates(keep & (codes == 1)))

    accuracy = (np.append(0.0, np.cumsum(2 * y[order] - 1)) + (y == 0).sum()) / len(y)
    fits = gap(np.ones(len(y), dtype=bool)) <= aims[0]
    fits &= gap(y == 1) + gap(y == 0) <= aims[1]
    best = int(np.argmax(np.where(fits, accuracy, -1.0)))
    return np.inf if best == 0 else float(forecast[order[best - 1]])


def _multipliers(gain: np.ndarray, contrasts: list, aims: tuple) -> np.ndarray:
    """Maximise the mean gain with the contrasts of decisions within the aims; return the duals.

    Variables: one decision per row, then bounds t and f with t + f <= the aim of equalized odds.
    """
    n = len(gain)
    parity, true, false = (contrast / n for contrast in contrasts)
    zero, sides = np.zeros(2), []
    for sign in (1.0, -1.0):
        sides.append(np.concatenate([sign * parity, zero]))
        sides.append(np.concatenate([sign * true, [-1.0, 0.0]]))
        sides.append(np.concatenate([sign * false, [0.0, -1.0]]))
    sides.append(np.concatenate([np.zeros(n), [1.0, 1.0]]))
    right = np.array([aims[0], 0, 0, aims[0], 0, 0, aims[1]])
    bounds = [(0, 1)] * n + [(0, None)] * 2
    cost = np.concatenate([-gain / n, zero])
    found = linprog(cost, A_ub=np.array(sides), b_ub=right, bounds=bounds, method="highs")
    marginals = -found.ineqlin.marginals
    return np.asarray(marginals[:3] - marginals[3:6])


def _measured(decided: np.ndarray, y: np.ndarray, codes: np.ndarray) -> Row:
    """Accuracy and gaps of decisions."""
    accuracy = float((decided == y).mean())

    def gap(keep: np.ndarray) -> float:
        return float(abs(decided[keep & (codes == 0)].mean() - decided[keep & (codes == 1)].mean()))

    odds = gap(y == 1) + gap(y == 0)
    return {"accuracy": accuracy, "dp": gap(np.ones(len(y), dtype=bool)), "eo": odds}


def _regression(table: pd.DataFrame, y: np.ndarray) -> float:
    X = TableEncoder.learn(table).transform(table).to_numpy()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return _timed(lambda: LogisticRegression(max_iter=1000).fit(X, y))[0]


def _timed(action: Callable[[], Any]) -> tuple[float, Any]:
    """Return seconds of this one thread, which other work on the machine does not add to."""
    start = time.process_time()
    found = action()
    return time.process_time() - start, found


def _means(rows: list[Row]) -> pd.DataFrame:
    frame = pd.DataFrame(rows).drop(columns="seed")
    return frame.groupby(["setting", "booster"], sort=False).mean().reset_index()


def _tables(means: pd.DataFrame) -> list[Row]:
    """Return three tables: speed, quality of the forecasts, and what each is worth."""
    keys = ["setting", "booster"]
    others = [name for name in means.columns if name not in keys]
    worth = [n for n in others if n.startswith(("free_", "label_", "both_")) and _is_gap(n)]
    speed = [n for n in others if "second" in n]
    quality = [n for n in others if n not in (*worth, *speed)]
    parts = (speed, quality, worth)
    return [row for part in parts for row in means[keys + part].to_dict("records")]


def _is_gap(name: str) -> bool:
    return name.endswith(("_accuracy", "_dp", "_eo"))


def _goals(means: pd.DataFrame) -> list[Goal]:
    goals = []
    for name in ("label", "group"):
        slopes = means[f"{name}_slope_test"]
        goals.append(at_most(f"{name}: |slope - 1| on test rows", (slopes - 1).abs().max(), 0.15))
        ratio = means[f"{name}_log_loss_test"] / means[f"{name}_log_loss_out_of_fold"]
        goals.append(at_most(f"{name}: log loss on test rows / out of fold", ratio.max(), 1.03))
    goals.append(at_least("rows forecast a second", means["rows_per_second"].min(), 10_000))
    return goals


if __name__ == "__main__":
    main()
