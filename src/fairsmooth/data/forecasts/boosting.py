"""Boosted trees grown by a library, then taken over as plain arrays."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairsmooth import _validate
from fairsmooth._types import Floats
from fairsmooth.data.forecasts.forest import (
    ENTRIES,
    FEATURE,
    LEFT,
    MOST_LEVEL,
    RIGHT,
    THRESHOLD,
    VALUE,
    Forest,
    Levels,
    joined,
)
from fairsmooth.exceptions import FairSmoothError, InputError

Classes = NDArray[np.integer[Any]]
Trees = list[list[Floats | None]]

# A difference of logits at which the probability is 1 to the last digit.
_CERTAIN = 60.0
_CHECKED_ROWS = 512


@dataclass(frozen=True)
class Boosting:
    """How trees are grown: whose, how many, how large, how fast."""

    booster: str = "sklearn"
    rounds: int = 150
    leaves: int = 15
    learning_rate: float = 0.1
    rows_per_leaf: int = 20
    seed: int = 0

    def check(self) -> None:
        """Refuse settings that no library takes."""
        _validate.one_of(tuple(BOOSTERS), booster=self.booster)
        _validate.in_range(1, 10_000, rounds=self.rounds)
        _validate.in_range(2, 1000, leaves=self.leaves)
        _validate.in_range(1e-4, 1.0, learning_rate=self.learning_rate)
        _validate.in_range(1, 1_000_000, rows_per_leaf=self.rows_per_leaf)


def boost(levels: Levels, classes: Classes, n_classes: int, how: Boosting) -> Forest:
    """Grow a forest that forecasts the class; a class without rows has nearly no probability.

    Parameters
    ----------
    levels : ndarray of int16, shape (n, n_features)
    classes : ndarray of int, shape (n,)
        From 0 to ``n_classes - 1``; some may not occur.
    """
    present = np.unique(classes)
    if n_classes == 2:
        if len(present) == 1:
            # As if half a row of the other class had been seen.
            odds = np.log((len(classes) + 0.5) / 0.5)
            return joined([[None]], np.array([odds if present[0] == 1 else -odds]))
        trees, baseline, _ = _grown(levels, classes, how)
        return joined(trees, baseline)
    return _of_present(levels, classes, present, n_classes, how)


def _of_present(
    levels: Levels, classes: Classes, present: Classes, n_classes: int, how: Boosting
) -> Forest:
    """Grow trees for the classes that occur; the logits of the others stay far below."""
    own: Trees = [[None] * len(present)]
    start = np.zeros(len(present))
    if len(present) > 1:
        own, start, _ = _grown(levels, np.searchsorted(present, classes), how)
    if len(present) == 2:  # log-odds of the second against the first
        own, start = [[None, *row] for row in own], np.array([0.0, start[0]])
    trees: Trees = [[None] * n_classes for _ in own]
    for row, grown in zip(trees, own, strict=True):
        for code, tree in zip(present, grown, strict=True):
            row[code] = tree
    baseline = np.full(n_classes, start.min() - np.log((len(classes) + 0.5) / 0.5))
    baseline[present] = start
    return joined(trees, baseline)


def exact(levels: Levels, classes: Classes, n_classes: int, features: list[int]) -> Forest | None:
    """Return a forest that tells the class with certainty from these features alone.

    None if rows with the same levels have different classes.
    """
    from sklearn.tree import DecisionTreeClassifier

    seen = levels[:, features]
    tree = DecisionTreeClassifier(random_state=0).fit(seen, classes)
    if (tree.predict(seen) != classes).any():
        return None
    grown = tree.tree_
    if n_classes == 2:
        signs = np.where(grown.value[:, 0].argmax(axis=1) == 1, _CERTAIN, -_CERTAIN)
        return joined([[_from_sklearn_tree(grown, features, signs)]], np.zeros(1))
    trees = [
        _from_sklearn_tree(grown, features, _CERTAIN * (grown.value[:, 0].argmax(axis=1) == code))
        for code in range(n_classes)
    ]
    return joined([trees], np.zeros(n_classes))


def _from_sklearn_tree(grown: Any, features: list[int], values: Floats) -> Floats:
    tree = np.zeros((grown.node_count, ENTRIES))
    own = np.arange(grown.node_count)
    inner = grown.children_left >= 0
    tree[inner, FEATURE] = np.array(features)[grown.feature[inner]]
    tree[inner, THRESHOLD] = np.floor(grown.threshold[inner])
    tree[:, LEFT] = np.where(inner, grown.children_left, own)
    tree[:, RIGHT] = np.where(inner, grown.children_right, own)
    tree[:, VALUE] = values
    return tree


def _grown(levels: Levels, classes: Classes, how: Boosting) -> tuple[Trees, Floats, Floats]:
    """Grow trees for classes that all occur, and hold the arrays to what the library says."""
    trees, baseline, expected = BOOSTERS[how.booster](levels, classes, how)
    found = joined(trees, baseline).scores(levels[:_CHECKED_ROWS])
    error = float(np.abs(found - expected).max())
    if not error <= 1e-9 * (1.0 + float(np.abs(expected).max())):
        raise FairSmoothError(
            f"Expected the trees of {how.booster} to give the library's own scores, got scores "
            f"that are off by {error:.2g}. This version of it is not known here; use another."
        )
    return trees, baseline, expected


def _by_sklearn(levels: Levels, classes: Classes, how: Boosting) -> tuple[Trees, Floats, Floats]:
    from sklearn.ensemble import HistGradientBoostingClassifier

    model = HistGradientBoostingClassifier(
        max_iter=how.rounds,
        max_leaf_nodes=how.leaves,
        learning_rate=how.learning_rate,
        min_samples_leaf=how.rows_per_leaf,
        early_stopping=False,
        random_state=how.seed,
    ).fit(levels, classes)
    trees: Trees = [[_from_predictor(tree.nodes) for tree in row] for row in model._predictors]
    expected = model.decision_function(levels[:_CHECKED_ROWS])
    return trees, model._baseline_prediction.ravel(), expected.reshape(-1, len(trees[0]))


def _from_predictor(nodes: NDArray[Any]) -> Floats:
    tree = np.zeros((len(nodes), ENTRIES))
    own, inner = np.arange(len(nodes)), nodes["is_leaf"] == 0
    tree[inner, FEATURE] = nodes["feature_idx"][inner]
    tree[inner, THRESHOLD] = _whole(nodes["num_threshold"][inner])
    tree[:, LEFT] = np.where(inner, nodes["left"], own)
    tree[:, RIGHT] = np.where(inner, nodes["right"], own)
    tree[:, VALUE] = np.where(inner, 0.0, nodes["value"])
    return tree


def _whole(thresholds: Floats) -> Floats:
    """Round thresholds down: levels are whole, so the same ones stay at most the threshold."""
    return np.clip(np.floor(thresholds), -1, MOST_LEVEL)


def _by_lightgbm(levels: Levels, classes: Classes, how: Boosting) -> tuple[Trees, Floats, Floats]:
    try:
        import lightgbm
    except (ImportError, OSError) as error:
        raise InputError(
            "Expected lightgbm for booster='lightgbm', found none that works "
            f"({error}). Install fairsmooth[forecasts], or use booster='sklearn'."
        ) from error
    n_classes = int(classes.max()) + 1
    outputs = 1 if n_classes == 2 else n_classes
    settings = {
        "objective": "binary" if n_classes == 2 else "multiclass",
        "num_leaves": how.leaves,
        "learning_rate": how.learning_rate,
        "min_data_in_leaf": how.rows_per_leaf,
        "seed": how.seed,
        "deterministic": True,
        "force_row_wise": True,
        "verbosity": -1,
        **({"num_class": n_classes} if outputs > 1 else {}),
    }
    data = levels.astype(np.float64)
    model = lightgbm.train(settings, lightgbm.Dataset(data, classes), how.rounds)
    grown = [_from_nested(tree["tree_structure"]) for tree in model.dump_model()["tree_info"]]
    trees: Trees = [[*grown[i : i + outputs]] for i in range(0, len(grown), outputs)]
    expected = model.predict(data[:_CHECKED_ROWS], raw_score=True)
    return trees, np.zeros(outputs), np.asarray(expected).reshape(-1, outputs)


def _from_nested(node: dict[str, Any]) -> Floats:
    """Number the nodes of a nested tree, each parent before its children."""
    rows: list[list[float]] = []

    def place(node: dict[str, Any]) -> int:
        own = len(rows)
        rows.append([0.0, 0.0, own, own, float(node.get("leaf_value", 0.0))])
        if "split_feature" in node:
            threshold = float(_whole(np.array(node["threshold"])))
            left, right = place(node["left_child"]), place(node["right_child"])
            rows[own] = [float(node["split_feature"]), threshold, left, right, 0.0]
        return own

    place(node)
    return np.array(rows, dtype=np.float64)


BOOSTERS: dict[str, Callable[[Levels, Classes, Boosting], tuple[Trees, Floats, Floats]]] = {
    "sklearn": _by_sklearn,
    "lightgbm": _by_lightgbm,
}
