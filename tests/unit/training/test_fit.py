import numpy as np
import pytest

from fairsmooth import FairSmoothClassifier, estimator

CELLS = {("a", 0): 1, ("a", 1): 2, ("b", 0): 7, ("b", 1): 30}


@pytest.mark.parametrize("fraction", [0.5, 0.9])
def test_holding_out_leaves_every_cell_a_row_to_train_on(monkeypatch, fraction):
    found = []
    train = estimator.train
    monkeypatch.setattr(
        estimator, "train", lambda *a, **b: found.append(train(*a, **b)) or found[-1]
    )
    group = np.repeat([name for name, _ in CELLS], list(CELLS.values()))
    y = np.repeat([label for _, label in CELLS], list(CELLS.values()))
    X = np.random.default_rng(0).normal(size=(len(y), 2))
    clf = FairSmoothClassifier(threshold="accuracy", validation_fraction=fraction, random_state=0)
    clf.fit(X, y, sensitive_features=group)
    held_out = np.zeros(len(y), dtype=bool)
    held_out[found[0].held_out] = True
    for (name, label), count in CELLS.items():
        cell = (group == name) & (y == label)
        assert (held_out & cell).sum() == min(count - 1, round(fraction * count))
