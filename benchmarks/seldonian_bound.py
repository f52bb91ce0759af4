"""seldonian-engine's own bound on a gap of selection rates, beside the formula used for it here.

Runs in an environment of its own, for the engine pins libraries that this one does not use:

    python -m venv engine
    engine/bin/pip install "numpy<2" autograd cma graphviz matplotlib pandas scikit-learn scipy tqdm
    engine/bin/pip install --no-deps seldonian-engine
    engine/bin/python benchmarks/seldonian_bound.py 360/4843 2351/9647

Each argument is a group: positive decisions / rows. The engine is given a model whose
scores are the decisions themselves, and the constraint |PR of a - PR of b| at 95 %.
"""

import argparse
import json
import math
from itertools import permutations

import numpy as np
from scipy.stats import t
from seldonian.dataset import SupervisedDataSet, SupervisedMetaData
from seldonian.models.models import BinaryLogisticRegressionModel
from seldonian.parse_tree.parse_tree import ParseTree

ERROR = 0.05


class Decided(BinaryLogisticRegressionModel):
    """Scores every row by the decision that is its only feature."""

    def predict(self, theta, X, **options):  # type: ignore[no-untyped-def]
        """Return the decisions."""
        return np.asarray(X, dtype=float).ravel()


def by_the_engine(counts: list[tuple[int, int]]) -> float:
    decided = np.concatenate([np.arange(n) < x for x, n in counts]).astype(float)
    first = np.concatenate([np.full(n, k == 0) for k, (_, n) in enumerate(counts)]).astype(int)
    groups = np.stack([first, 1 - first], axis=1)
    meta = SupervisedMetaData(
        sub_regime="classification",
        all_col_names=["decided", "a", "b", "label"],
        feature_col_names=["decided"],
        label_col_names=["label"],
        sensitive_col_names=["a", "b"],
    )
    rows = SupervisedDataSet(
        features=decided[:, None],
        labels=decided.astype(int),
        sensitive_attrs=groups,
        num_datapoints=len(decided),
        meta=meta,
    )
    tree = ParseTree(ERROR, "supervised_learning", "classification", columns=["a", "b"])
    tree.build_tree("abs((PR | [a]) - (PR | [b])) - 0", delta_weight_method="equal")
    tree.propagate_bounds(
        theta=np.zeros(2),
        tree_dataset_dict={"all": rows},
        model=Decided(),
        branch="safety_test",
        regime="supervised_learning",
        sub_regime="classification",
    )
    return float(tree.root.upper)


def by_formula(counts: list[tuple[int, int]]) -> float:
    ends = []
    for x, n in counts:
        rate = x / n
        width = t.ppf(1 - ERROR / 4, n - 1) * math.sqrt(rate * (1 - rate) / (n - 1))
        ends.append((rate - width, rate + width))
    return max(a[1] - b[0] for a, b in permutations(ends, 2))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("groups", nargs=2, help="positive decisions / rows, such as 360/4843")
    counts = [tuple(map(int, group.split("/"))) for group in parser.parse_args().groups]
    print(json.dumps({"engine": by_the_engine(counts), "formula": by_formula(counts)}))


if __name__ == "__main__":
    main()
