"""Probabilities of belonging to a group are refused wherever groups are taken."""

import numpy as np
import pandas as pd
import pytest

from fairsmooth import FairSmoothClassifier, GapMonitor, GroupError, Limits, guarantee_gaps
from fairsmooth.baselines import UnconstrainedClassifier
from fairsmooth.cli.main import main
from fairsmooth.metrics import audit, demographic_parity_gap
from fairsmooth.tables import TableModel

RNG = np.random.default_rng(0)
X, Y = RNG.normal(size=(60, 3)), RNG.integers(0, 2, 60)
ONE = RNG.random(60)
MATRIX = RNG.dirichlet([1.0, 1.0, 1.0], 60)
WITH_GAPS = np.where(np.arange(60) == 5, np.nan, ONE)
DECIDED = RNG.integers(0, 2, 60)
REFUSED = "Probabilities of belonging to a group are no groups"
LIMITS = {"demographic_parity": 0.2}


def every_way(groups):
    table = pd.DataFrame({"x": X[:, 0], "y": Y, "p": np.asarray(groups).reshape(60, -1)[:, 0]})
    return {
        "fit": lambda: FairSmoothClassifier().fit(X, Y, sensitive_features=groups),
        "baseline": lambda: UnconstrainedClassifier().fit(X, Y, sensitive_features=groups),
        "audit": lambda: audit(y_true=Y, y_pred=DECIDED, sensitive_features=groups),
        "metric": lambda: demographic_parity_gap(Y, DECIDED, sensitive_features=groups),
        "guarantee": lambda: guarantee_gaps(DECIDED, sensitive_features=groups, limits=LIMITS),
        "monitor": lambda: GapMonitor(Limits(**LIMITS)).update(
            DECIDED, sensitive_features=groups
        ),
        "table": lambda: TableModel.fit(table, label="y", sensitive="p"),
    }  # fmt: skip


@pytest.mark.parametrize("way", list(every_way(ONE)))
@pytest.mark.parametrize(
    "groups",
    [ONE, MATRIX, pd.DataFrame(MATRIX), ONE.astype(object), pd.Series(ONE, dtype="Float64")],
    ids=["column", "matrix", "frame", "objects", "nullable"],
)  # fmt: skip
def test_probabilities_are_refused(way, groups):
    with pytest.raises(GroupError, match=REFUSED):
        every_way(groups)[way]()


def test_the_monitor_sees_them_between_gaps():
    with pytest.raises(GroupError, match=REFUSED):
        every_way(WITH_GAPS)["monitor"]()


def test_whole_numbers_are_groups_whatever_their_type():
    clf = FairSmoothClassifier().fit(X, Y, sensitive_features=DECIDED.astype(float))
    assert clf.groups_ == (0.0, 1.0)


def test_the_command_says_it_in_one_line(tmp_path, capsys):
    table = pd.DataFrame({"x": X[:, 0], "y": Y, "p_black": ONE})
    table.to_csv(tmp_path / "t.csv", index=False)
    code = main(["train", str(tmp_path / "t.csv"), "--label", "y", "--sensitive", "p_black",
                 "-o", str(tmp_path / "m")])  # fmt: skip
    assert code == 2
    assert REFUSED in capsys.readouterr().err
