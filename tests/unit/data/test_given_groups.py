"""Groups as users give them: what is missing stays missing, wherever groups are taken."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

from fairsmooth import FairSmoothClassifier, GapMonitor, InputError, Limits, guarantee_gaps
from fairsmooth.data.given_groups import given_groups
from fairsmooth.metrics import audit, demographic_parity_gap

N = 120
NAN = float("nan")
SEX = ["f", "m", "m"] * (N // 3)
GAPS = [NAN if place % 20 == 7 else sex for place, sex in enumerate(SEX)]
Y = np.arange(N) % 2
X = np.random.default_rng(0).normal(size=(N, 2)) + Y[:, None]


def _fit(groups, **more):
    return FairSmoothClassifier(random_state=0).fit(X, Y, sensitive_features=groups, **more)


def _audit_a_model(groups):
    return audit(_fit(SEX), X, Y, sensitive_features=groups)


def _guarantee(groups):
    return guarantee_gaps(Y, sensitive_features=groups, limits={"demographic_parity": 0.5})


def _watch(groups):
    return GapMonitor(Limits(demographic_parity=0.5)).update(Y, sensitive_features=groups)


TAKERS = [
    _fit,
    lambda groups: _fit(groups, sample_weight=np.arange(N)),
    _audit_a_model,
    lambda groups: audit(y_true=Y, y_pred=Y, sensitive_features=groups),
    lambda groups: demographic_parity_gap(Y, Y, sensitive_features=groups),
    _guarantee,
]


@pytest.mark.parametrize("take", TAKERS)
@pytest.mark.parametrize("groups", [GAPS, tuple(GAPS), [(sex, "a") for sex in GAPS]])
def test_a_gap_in_a_list_is_no_group(take, groups):
    """NumPy would make the group "nan" of it."""
    with pytest.raises(InputError, match="Expected a sensitive value in every row"):
        take(groups)


def test_lists_without_gaps_are_left_as_they_are():
    for groups in (SEX, [("f", 1)], [1.0, 2.0], np.array(SEX), pd.Series(GAPS), None):
        assert given_groups(groups) is groups
    assert _fit([(sex, 1) for sex in SEX]).groups_ == (("f", "1"), ("m", "1"))


@pytest.mark.parametrize("take", [*TAKERS, _watch])
def test_rows_of_several_lengths_are_refused(take):
    ragged = [(sex, 1) if place != 5 else (sex,) for place, sex in enumerate(SEX)]
    message = "as many sensitive values in every row, got 2 in row 0 and 1 in row 5. Give"
    with pytest.raises(InputError, match=message):
        take(ragged)
    with pytest.raises(InputError, match="got a value by itself in row 0 and 1 in row 1"):
        take(["f", ("m",), *SEX[2:]])


@pytest.mark.parametrize("take", [*TAKERS, _watch])
def test_groups_that_are_not_in_memory_are_refused(take):
    with pytest.raises(InputError, match=r"got a polars LazyFrame. Call its collect\(\)"):
        take(pl.DataFrame({"sex": SEX}).lazy())


def test_rows_that_are_not_in_memory_are_refused():
    lazy = pl.DataFrame(X, schema=["a", "b"]).lazy()
    model = FairSmoothClassifier(random_state=0).fit(lazy.collect(), Y, sensitive_features=SEX)
    for use in (
        lambda: FairSmoothClassifier().fit(lazy, Y, sensitive_features=SEX),
        lambda: model.predict(lazy),
        lambda: model.predict_interval(lazy),
    ):
        with pytest.raises(InputError, match="Expected rows in memory, got a polars LazyFrame"):
            use()
