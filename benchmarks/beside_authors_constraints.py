"""Group-Fair, DLR and ApxFair beside their authors' code: same rows and splits, several seeds.

Needs what this repository does not hold, each by its path: ``--aif360``, a folder with AIF360's
package ``aif360`` (its ``celisMeta`` is Group-Fair's code); ``--dlr``, a checkout of
vijaykeswani/Noisy-Fair-Classification; ``--apxfair``, one of
samuel-deng/Ensuring-Fairness-Beyond-the-Training-Data, whose splits and kept results are read
(a fit of theirs takes twelve minutes). Nothing of them is changed. For every case: mean and
standard deviation over the seeds or splits of accuracy and gaps, and how many test decisions
differ when ours is given the authors' random draws (Group-Fair) or starts (DLR).
"""

import importlib
import json
import re
import sys
import types
import warnings
from collections.abc import Callable, Iterator
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pandas as pd
from _report import Row, arguments, report
from scipy.linalg import qr
from scipy.stats import multivariate_normal
from threadpoolctl import threadpool_limits

from fairsmooth.baselines.apxfair.classifier import ApxFairClassifier
from fairsmooth.baselines.dlr import classifier as dlr
from fairsmooth.baselines.group_fair.cell_density import GaussianCells
from fairsmooth.baselines.group_fair.classifier import GroupFairClassifier
from fairsmooth.datasets import FairDataset, entry
from fairsmooth.metrics import rates

GROUP_FAIR_CASES = ("adult-sex", "compas-sex", "compas-race")
DLR_CASES = ("compas-sex", "compas-race")
NOTIONS = {"FalseDiscovery": "false_discovery_rate", "StatisticalRate": "demographic_parity"}
FIGURES = ("accuracy", "demographic_parity", "equalized_odds_sum")

# The authors' loops over rows take minutes on more, and their tries have no end.
DLR_ROWS = 1000
MOST_TRIES = 30

# Group column and published bound and step, by data set and notion.
APXFAIR = {
    ("adult", "demographic_parity"): ("sex", 0.25, 0.65),
    ("adult", "equalized_odds"): ("sex", 0.11, 0.5),
    ("compas", "demographic_parity"): ("race", 0.05, 0.6),
    ("compas", "equalized_odds"): ("race", 0.01, 0.8),
}
SHORT = {"demographic_parity": "DP", "equalized_odds": "EO"}
SPLITS = range(1, 6)


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--aif360", type=Path, help="folder that holds the package aif360")
    parser.add_argument("--dlr", type=Path, help="checkout of Noisy-Fair-Classification")
    parser.add_argument("--apxfair", type=Path, help="checkout of Ensuring-Fairness-Beyond-...")
    parser.add_argument("--seeds", type=int, default=5)
    options = parser.parse_args()
    threadpool_limits(1)
    warnings.simplefilter("ignore")
    seeds = range(1 if options.quick else options.seeds)
    rows: list[Row] = []
    if options.aif360 is not None:
        rows.extend(group_fair(options.aif360, seeds))
    if options.dlr is not None:
        rows.extend(denoised(options.dlr, seeds))
    if options.apxfair is not None:
        rows.extend(reweighted(options.apxfair))
    report([], rows, as_json=options.json)


def group_fair(folder: Path, seeds: range) -> Iterator[Row]:
    theirs = celis_meta(folder)
    for case in GROUP_FAIR_CASES:
        for name, notion in NOTIONS.items():
            authors, ours, given = [], [], []
            for seed in seeds:
                train, _, X, X_test = parts(case, seed)
                model = theirs[name]().getModel(
                    0.8, X, 2 * train.y - 1, train.groups.codes, random_state=seed
                )
                authors.append(np.asarray(model(X_test)) > 0)
                settings = {"notion": notion, "solver": "gradient", "random_state": seed}
                fair = GroupFairClassifier(**settings)
                ours.append(fitted(fair, X, train, X_test))
                with patch.object(GaussianCells, "draw", scipy_draws(X, seed)):
                    given.append(fitted(fair, X, train, X_test))
            yield from compared("Group-Fair", case, notion, seeds, (authors, ours, given))


def celis_meta(folder: Path) -> dict[str, Callable[[], object]]:
    """Import the authors' two modules alone: the package around them needs much that is not."""
    name = "aif360"
    for part in (None, "algorithms", "inprocessing", "celisMeta"):
        folder, name = (
            (folder / "aif360", name) if part is None else (folder / part, f"{name}.{part}")
        )
        package = types.ModuleType(name)
        package.__path__ = [str(folder)]
        sys.modules[name] = package
    return {each: getattr(importlib.import_module(f"{name}.{each}"), each) for each in NOTIONS}


def scipy_draws(X: np.ndarray, seed: int) -> Callable[..., np.ndarray]:
    """Return draws as the authors' code makes them, from one generator for all intervals."""
    covariance = np.cov(X, rowvar=False)
    normal = multivariate_normal(X.mean(axis=0), covariance, allow_singular=True, seed=seed)
    return lambda _, n_draws, rng: normal.rvs(size=n_draws)


def denoised(folder: Path, seeds: range) -> Iterator[Row]:
    theirs = algorithms(folder)
    for case in DLR_CASES:
        authors, ours = [], []
        for seed in seeds:
            train, _, X, X_test = parts(case, seed, DLR_ROWS)
            starts = np.random.default_rng(seed).random((MOST_TRIES, X.shape[1] + 1))
            features = np.column_stack([train.groups.codes, X])
            with patch("numpy.random.rand", one_by_one(starts)), redirect_stdout(StringIO()):
                theta = theirs.denoised(features, train.y, 0, 0.0, 0.9, 0.1, 0.0, 0.0)
            authors.append(X_test @ theta[:-1] + theta[-1] > 0)
            given = types.SimpleNamespace(random=one_by_one(starts))
            with patch.object(dlr, "numpy_generator", lambda *_, given=given: given):
                ours.append(fitted(dlr.DLRClassifier(n_tries=MOST_TRIES), X, train, X_test))
        yield from compared(
            "DLR", case, "demographic_parity", seeds, (authors, ours, ours), DLR_ROWS
        )


def reweighted(folder: Path) -> Iterator[Row]:
    for (data, notion), (group, bound, step) in APXFAIR.items():
        settings = {"notion": notion, "bound": bound, "step": step, "scale_offset": False}
        authors = kept_results(folder, data, notion)
        ours = [on_split(folder, data, split, group, settings) for split in SPLITS]
        for code, found in (("authors", authors), ("ours", ours)):
            row: Row = {"method": "ApxFair", "data": data, "notion": notion, "code": code}
            for figure, values in zip(("accuracy", "gap"), np.transpose(found), strict=True):
                row[figure], row[f"{figure} (sd)"] = float(values.mean()), float(values.std())
                row[f"{figure} by split"] = " ".join(f"{value:.4f}" for value in values)
            yield row


def kept_results(folder: Path, data: str, notion: str) -> list[tuple[float, float]]:
    """Read accuracy and gap of every split from the outputs that the authors' notebook keeps."""
    name = f"comparison_{SHORT[notion]}_{data}.ipynb"
    cells = json.loads((folder / "main" / "Part3_Comparisons" / name).read_text())["cells"]
    outputs = (output for cell in cells for output in cell.get("outputs", []))
    text = "".join("".join(output.get("text", [])) for output in outputs)
    found = []
    for part in re.split(r"Test Accuracy \(Robust[^)]*\): ", text)[1:]:
        gaps = re.findall(r"Delta_\w+ = ([\d.e-]+)", part)[: 1 if SHORT[notion] == "DP" else 2]
        found.append((float(part.split()[0]), float(np.mean([float(gap) for gap in gaps]))))
    return found


def on_split(
    folder: Path, data: str, split: int, group: str, settings: dict[str, Any]
) -> tuple[float, float]:
    """Return accuracy and gap of ours on one of the authors' splits; both labels' mean for odds."""
    read = {
        (part, what): pd.read_csv(
            folder / "data" / "processed" / data / f"{data}_{part}{split}_{what}.csv"
        )
        for part in ("train", "test")
        for what in ("X", "y")
    }
    model = ApxFairClassifier(**settings)
    X = read["train", "X"]
    model.fit(X, read["train", "y"].iloc[:, 0], sensitive_features=(X[group] > 0) * 1)
    decided = model.predict(read["test", "X"])
    y, codes = read["test", "y"].iloc[:, 0].to_numpy(), (read["test", "X"][group] > 0).to_numpy()
    strata = [y == y] if SHORT[settings["notion"]] == "DP" else [y == 0, y == 1]
    rate = [[decided[rows & (codes == k)].mean() for k in np.unique(codes)] for rows in strata]
    return float((decided == y).mean()), float(np.mean([abs(a - b) for a, b in rate]))


def algorithms(folder: Path) -> types.ModuleType:
    """Import the authors' file without the packages that it names and does not need here."""
    parts_of_it = ("zvrg.zvrg_utils", "zvrg.zvrg_loss_funcs", "gyf.gyf_utils", "gyf.gyf_loss_funcs")
    for part in parts_of_it:
        words = f"aif360.algorithms.inprocessing.{part}".split(".")
        for count in range(1, len(words) + 1):
            name = ".".join(words[:count])
            sys.modules.setdefault(name, types.ModuleType(name))
            if count > 1:
                setattr(
                    sys.modules[".".join(words[: count - 1])], words[count - 1], sys.modules[name]
                )
    sys.path.insert(0, str(folder))
    return importlib.import_module("algorithms")


def one_by_one(starts: np.ndarray) -> Callable[..., np.ndarray]:
    """Return a function that hands out the starts, whatever it is called with."""
    left = iter(starts)
    return lambda *_, **__: next(left).copy()


def parts(
    case: str, seed: int, most: int | None = None
) -> tuple[FairDataset, FairDataset, np.ndarray, np.ndarray]:
    """Return both parts, and their rows without the group and without redundant columns."""
    name, sensitive = case.split("-")
    train, test = entry(name).load(encoding="aif360", sensitive=sensitive).split(0.3, seed)
    if most is not None:
        train = train.take(np.random.default_rng(seed).permutation(len(train))[:most])
    X, X_test = (np.asarray(part.X, dtype=np.float64) for part in (train, test))
    known = np.column_stack([np.ones(len(X)), train.groups.codes, X])
    kept = np.abs(np.diag(qr(known, mode="r")[0]))[2:] > 1e-8
    return train, test, X[:, kept], X_test[:, kept]


def fitted(model: object, X: np.ndarray, train: FairDataset, X_test: np.ndarray) -> np.ndarray:
    model.fit(X, train.y, sensitive_features=train.groups.codes)
    return np.asarray(model.predict(X_test)) == 1


def compared(
    method: str, case: str, notion: str, seeds: range, found: tuple, most: int | None = None
) -> Iterator[Row]:
    """Yield the authors' figures and ours, means and deviations over the seeds."""
    authors, ours, given = found
    tests = [parts(case, seed, most)[1] for seed in seeds]
    differ = sum(int((a != b).sum()) for a, b in zip(authors, given, strict=True))
    for code, decisions in (("authors", authors), ("ours", ours)):
        measured = [
            rates.measure(each.astype(np.int64), test.y, test.groups)
            for each, test in zip(decisions, tests, strict=True)
        ]
        row: Row = {"method": method, "case": case, "notion": notion, "code": code}
        for figure in FIGURES:
            values = [each[figure] for each in measured]
            row[figure], row[f"{figure} (sd)"] = float(np.mean(values)), float(np.std(values))
        yield {**row, "differ": differ, "decisions": sum(len(each) for each in decisions)}


if __name__ == "__main__":
    main()
