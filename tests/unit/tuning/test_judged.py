import numpy as np
import pandas as pd
import pytest

from fairsmooth.data.groups import Groups
from fairsmooth.metrics import audit
from fairsmooth.metrics.rates import measure
from fairsmooth.tuning.judged import OBJECTIVES, FoldCounts, Judged, pareto_front


def sample(n=900, n_groups=3, seed=0):
    random = np.random.default_rng(seed)
    return (
        random.integers(0, 2, n),
        random.integers(0, 2, n),
        Groups(tuple("abc"[:n_groups]), random.integers(0, n_groups, n)),
    )


def in_folds(decided, y, groups, n_folds=3):
    parts = np.array_split(np.arange(len(y)), n_folds)
    return Judged(
        tuple(
            FoldCounts.of(decided[p], y[p], Groups(groups.labels, groups.codes[p]), 0.1 * (i + 1))
            for i, p in enumerate(parts)
        )
    )


def test_pooled_folds_measure_all_rows_together():
    decided, y, groups = sample()
    judged = in_folds(decided, y, groups)
    expected = measure(decided, y, groups)
    names = ("accuracy", "demographic_parity", "equalized_odds_sum")
    found = judged.measured
    assert {n: found[n] for n in names} == pytest.approx({n: expected[n] for n in names})
    assert found["epsilon"] == pytest.approx(0.3)
    assert judged.first(1).measured["epsilon"] == pytest.approx(0.1)
    assert judged.first(1).rows.sum() == 300


def test_intervals_are_those_of_the_audit():
    decided, y, groups = sample(n_groups=2)
    judged = in_folds(decided, y, groups)
    names = np.array(groups.labels)[groups.codes]
    records = audit(y_true=y, y_score=decided.astype(float), sensitive_features=names)
    for name in ("demographic_parity", "equalized_odds_sum"):
        record = next(r for r in records.records if r.metric == name and r.group is None)
        assert judged.intervals()[name] == pytest.approx((record.low, record.high))
    wider = judged.intervals(0.999)
    assert all(wider[n][0] <= a and b <= wider[n][1] for n, (a, b) in judged.intervals().items())


def test_counts_survive_json_and_damage_is_refused():
    fold = in_folds(*sample()).folds[0]
    again = FoldCounts.from_dict(fold.to_dict())
    assert again.to_dict() == fold.to_dict()
    for damage in (
        {"rows": [[1, 2]]},
        {"hits": (fold.rows + 1).tolist()},
        {"rows": [[0, 0]] * 3, "hits": [[0, 0]] * 3},
        {"rows": [[0.5, 1]] * 3},
        {"hits": [[-1, 0]] * 3},
        {"epsilon": float("inf")},
        {"epsilon": -1.0},
    ):
        with pytest.raises(ValueError, match=r"counts|bound"):
            FoldCounts.from_dict({**fold.to_dict(), **damage})


def test_pareto_front_against_the_definition():
    random = np.random.default_rng(0)
    table = pd.DataFrame(random.integers(0, 4, (40, 4)) / 4, columns=list(OBJECTIVES))
    costs = table.to_numpy() * [-1, 1, 1, 1]
    expected = [
        not any((other <= mine).all() and (other < mine).any() for other in costs) for mine in costs
    ]
    assert pareto_front(table).tolist() == expected
