"""Forecasters in a model file: trees that are read as arrays, as far as arrays can go wrong.

A certificate holds for whatever columns a row is turned into, so nothing here bears on it. What
is shown is that the forecasters can be evaluated: that every row comes to a leaf of every tree.
"""

import hashlib
from dataclasses import dataclass
from typing import Any

import numpy as np

from fairsmooth.verify._fields import is_whole, require, texts
from fairsmooth.verify._model_file import Floats
from fairsmooth.verify.check import Check

KIND = "forecasts"
_ENTRIES = {"kind", "inputs", "groups", "reference", "centre", "scale"}
_NODE = 5  # feature, threshold, left, right, value
_MOST_LEVEL = 2**15 - 1
_MOST_VALUE = 1e9  # sums of it do not overflow


@dataclass(frozen=True)
class Forecasters:
    """What a file says of them: columns read, and groups told apart, none if only the label is."""

    n_inputs: int
    n_groups: int

    @property
    def n_features(self) -> int:
        """Number of columns made of the forecasts: one less than there are forecasts."""
        return 2 * self.n_groups - 1 if self.n_groups else 1

    @property
    def shapes(self) -> dict[str, tuple[int, int]]:
        """Inputs and outputs of every forecaster; that of the group also sees the label."""
        found = {"label": (self.n_inputs, 1)}
        if self.n_groups:
            found["group"] = (self.n_inputs + 1, 1 if self.n_groups == 2 else self.n_groups)
        return found

    @property
    def names(self) -> set[str]:
        """Names of the tensors."""
        parts = ("nodes", "roots", "baseline")
        return {f"forecast.{what}.{part}" for what in self.shapes for part in parts}


def read_forecasters(encoder: Any) -> Forecasters | None:
    """Return what an encoder says of its forecasters; None if it is another kind of encoder."""
    if not isinstance(encoder, dict) or encoder.get("kind") != KIND:
        return None
    require(set(encoder) == _ENTRIES, f"an encoder with {sorted(_ENTRIES)}", sorted(encoder))
    inputs = encoder["inputs"]
    rules = inputs.get("columns") if isinstance(inputs, dict) else None
    require(isinstance(rules, list) and bool(rules), "inputs with columns", inputs)
    groups = [] if encoder["groups"] is None else texts(encoder["groups"], "groups")
    require(encoder["groups"] is None or len(groups) >= 2, "two groups to forecast", groups)
    place = encoder["reference"]
    fits = is_whole(place) and 0 <= place < max(len(groups), 1)
    require(fits, "a reference among the groups", place)
    found = Forecasters(len(rules or []), len(groups))
    for name in ("centre", "scale"):
        values = encoder[name]
        numbers = isinstance(values, list) and all(type(v) in (int, float) for v in values)
        fits = numbers and len(values) == found.n_features
        require(fits, f"{found.n_features} numbers as {name}", values)
    require(all(value > 0 for value in encoder["scale"]), "positive scales", encoder["scale"])
    return found


def check_forecasters(found: Forecasters, tensors: dict[str, Floats]) -> Check:
    """Check the trees, or raise :class:`ModelFileError` with what is wrong."""
    n_trees = n_nodes = 0
    state = hashlib.sha256()
    for what, (n_inputs, n_outputs) in found.shapes.items():
        nodes, roots, baseline = (
            _tensor(tensors, f"forecast.{what}.{part}") for part in ("nodes", "roots", "baseline")
        )
        fits = nodes.ndim == 2 and nodes.shape[1] == _NODE
        require(fits, f"nodes of {_NODE} entries to forecast the {what}", nodes.shape)
        fits = roots.ndim == 2 and roots.shape[1] == n_outputs and baseline.shape == (n_outputs,)
        require(fits, f"{n_outputs} trees a round to forecast the {what}", roots.shape)
        _walkable(nodes, roots, n_inputs, what)
        n_trees, n_nodes = n_trees + roots.size, n_nodes + len(nodes)
        for array in (nodes, roots, baseline):
            state.update(array.astype("<f8").tobytes())
    return Check(
        "forecasters",
        True,
        f"{n_trees} trees of {n_nodes} nodes forecast {' and '.join(found.shapes)}, every path "
        f"ends in a leaf; sha256 {state.hexdigest()[:16]}…",
    )


def _tensor(tensors: dict[str, Floats], name: str) -> Floats:
    require(name in tensors, f"a tensor {name!r}", sorted(tensors))
    return tensors[name]


def _walkable(nodes: Floats, roots: Floats, n_inputs: int, what: str) -> None:
    """Require whole numbers in range, and of every node that it is a leaf or leads onward only."""
    count = len(nodes)
    for values, low, high, name in (
        (nodes[:, 0], 0, n_inputs - 1, "features"),
        (nodes[:, 1], -1, _MOST_LEVEL, "thresholds"),
        (nodes[:, 2:4], 0, count - 1, "children"),
        (roots, 0, count - 1, "roots"),
    ):
        inside = bool(np.all((values >= low) & (values <= high) & (values % 1.0 == 0.0)))
        require(inside, f"{name} from {low} to {high} to forecast the {what}", "others")
    fits = bool(np.all(np.abs(nodes[:, 4]) <= _MOST_VALUE))
    require(fits, f"values up to {_MOST_VALUE:g} to forecast the {what}", "larger ones")
    steps = nodes[:, 2:4] - np.arange(count, dtype=np.float64)[:, None]
    onward = (steps == 0.0).all(axis=1) | (steps > 0.0).all(axis=1)
    require(bool(onward.all()), f"no way back in a tree to forecast the {what}", "one")
