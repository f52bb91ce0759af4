"""Rows in shares: whatever the shares, ranks agree on what all rows in one place would give."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.ranks_in_threads import run_ranks

from fairsmooth.core.ranks import ALONE
from fairsmooth.data.agreeing import learn_encoder
from fairsmooth.data.columns.counted import learn_counted
from fairsmooth.data.columns.learning import Settings, learn_column
from fairsmooth.data.encoding import TableEncoder
from fairsmooth.data.frames import as_frame
from fairsmooth.data.splits import hold_out
from fairsmooth.exceptions import InputError

FLOATS = st.floats(allow_nan=False, allow_infinity=False)
FEW = st.sampled_from([-1.0, -0.0, 0.0, 1e-300, 2.0, 3.5, 1e300])
NUMBERS = st.lists(st.one_of(FLOATS, FEW), min_size=2, max_size=80)


def shares_of(frame, cuts, size):
    ends = sorted(min(cut, len(frame)) for cut in cuts[: size - 1])
    starts = [0, *ends]
    return [
        frame.iloc[start:stop].reset_index(drop=True)
        for start, stop in zip(starts, [*ends, len(frame)], strict=True)
    ]


@settings(max_examples=60, deadline=None)
@given(
    values=NUMBERS,
    cuts=st.lists(st.integers(0, 80), min_size=2, max_size=2),
    size=st.integers(1, 3),
    n_bins=st.sampled_from([3, 10, 25]),
)
def test_bins_from_counts_are_those_of_all_rows(values, cuts, size, n_bins):
    frame = pd.DataFrame({"x": values})
    parts, how = shares_of(frame, cuts, size), Settings("binned", n_bins, 100)
    found = run_ranks(size, lambda ranks: learn_counted("x", parts[ranks.rank]["x"], how, ranks))
    assert all(each == learn_column("x", frame["x"], how) for each in found)


TABLES = st.lists(
    st.tuples(
        st.one_of(st.none(), FEW, st.floats(-50, 50)),
        st.one_of(
            st.none(), st.sampled_from(["a", "b", "c", "01", "?"]), st.text("xy", max_size=3)
        ),
        st.one_of(st.none(), st.datetimes(pd.Timestamp("1990-01-01"), pd.Timestamp("2030-01-01"))),
        st.booleans(),
    ),
    min_size=2,
    max_size=40,
)


@settings(max_examples=60, deadline=None)
@given(
    rows=TABLES,
    cuts=st.lists(st.integers(0, 40), min_size=2, max_size=2),
    size=st.integers(1, 3),
    numeric=st.sampled_from(["binned", "standardised"]),
)
def test_encoders_from_counts_are_those_of_all_rows(rows, cuts, size, numeric):
    frame = as_frame(pd.DataFrame(rows, columns=["number", "text", "day", "flag"]))
    parts = shares_of(frame, cuts, size)

    def learn(ranks):
        return learn_encoder(parts[ranks.rank].items(), ranks, numeric=numeric, unknown="error")

    try:
        expected = TableEncoder.learn(frame, numeric=numeric)
    except InputError:
        with pytest.raises(InputError, match="more than one value"):
            run_ranks(size, learn)
        return
    for found in run_ranks(size, learn):
        assert found.notes == expected.notes
        for rule, other in zip(found.rules, expected.rules, strict=True):
            if rule.kind != "standardised":
                assert rule == other
            else:
                largest = np.abs(frame["number"]).max()
                assert (rule.mean, rule.scale) == pytest.approx(
                    (other.mean, other.scale), rel=1e-12, abs=1e-12 * largest
                )


@settings(max_examples=60, deadline=None)
@given(
    cells=st.lists(st.integers(0, 4), min_size=1, max_size=60),
    cuts=st.lists(st.integers(0, 60), min_size=2, max_size=2),
    size=st.integers(2, 3),
)
def test_a_split_in_shares_is_the_split_of_all_rows(cells, cuts, size):
    frame = pd.DataFrame({"cell": cells})
    parts = shares_of(frame, cuts, size)

    def split(cells, ranks):
        permute = np.random.default_rng(3).permutation
        return hold_out(np.asarray(cells, dtype=np.int64), 0.3, permute=permute, ranks=ranks)

    found = run_ranks(size, lambda ranks: split(parts[ranks.rank]["cell"], ranks))
    starts = np.cumsum([0, *(len(part) for part in parts)])
    for place, whole in enumerate(split(cells, ALONE)):
        together = [start + own[place] for start, own in zip(starts, found, strict=False)]
        assert np.concatenate(together).tolist() == whole.tolist()
