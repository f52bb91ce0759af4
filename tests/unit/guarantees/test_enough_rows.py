import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fairsmooth.exceptions import InputError
from fairsmooth.guarantees import enough_rows
from fairsmooth.guarantees.enough_rows import rows_needed
from fairsmooth.guarantees.planning import ExpectedCell, return_probability

HALVES = [0.5, 0.5]
ODDS = ({1: [0.6, 0.58], 0: [0.1, 0.09]}, {1: [0.1, 0.2], 0: [0.4, 0.3]})
# Quantity, limit, rates, shares, shift: each takes more rows than the exact bound is taken for.
MANY_ROWS = [
    ("demographic_parity", 0.034, [0.215, 0.185], HALVES, None),
    ("impact_ratio", 0.775, [0.215, 0.17], HALVES, None),
    ("equalized_odds_max", 0.03, *ODDS, None),
    ("demographic_parity", 0.055, [0.215, 0.185], HALVES, ("total_variation", 0.01)),
]


def test_rows_for_the_power_of_the_prototype():
    rows = rows_needed("demographic_parity", 0.05, rates=[0.215, 0.185], shares=[0.5, 0.5])
    assert 5_000 <= rows / 2 <= 5_300


def test_both_labels_of_equalized_odds_count():
    rows = rows_needed("equalized_odds_max", 0.2, rates=ODDS[0], shares=ODDS[1])
    assert 500 < rows < 20_000


def test_no_number_of_rows_closes_a_gap():
    assert rows_needed("demographic_parity", 0.02, rates=[0.3, 0.25], shares=[0.5, 0.5]) is None


@pytest.mark.parametrize(("name", "limit", "rates", "shares", "shift"), MANY_ROWS)
def test_many_rows_are_forecast_as_the_exact_bound_would(
    monkeypatch, name, limit, rates, shares, shift
):
    quick = rows_needed(name, limit, rates=rates, shares=shares, shift=shift)
    monkeypatch.setattr(enough_rows, "_EXACT_VARIANCE", math.inf)
    assert quick == pytest.approx(
        rows_needed(name, limit, rates=rates, shares=shares, shift=shift), rel=1 / 200
    )


@settings(max_examples=12, deadline=None)
@given(
    low=st.floats(0.01, 0.5),
    gap=st.floats(0.0, 0.2),
    room=st.floats(0.03, 0.3),
    share=st.floats(0.2, 0.8),
)
def test_that_many_rows_are_enough_and_a_tenth_fewer_are_not(low, gap, room, share):
    rates, shares = (low, low + gap), (share, 1.0 - share)
    rows = rows_needed("demographic_parity", gap + room, rates=rates, shares=shares)

    def chance(rows):
        cells = [ExpectedCell(q, rows * s) for q, s in zip(rates, shares, strict=True)]
        return return_probability("demographic_parity", {None: cells}, gap + room)

    assert chance(rows) >= 0.8
    # Whole numbers make the chance rise in steps.
    assert chance(0.9 * rows) < 0.8 or rows < 500


@pytest.mark.parametrize("limit", [0.0301, 0.0303])
def test_a_limit_next_to_the_gap_takes_no_exact_work_at_millions_of_rows(monkeypatch, limit):
    largest = []
    bound = enough_rows.bound

    def counted(quantity, families, **how):
        largest.append(max(rows for family in families for _, rows in family.counts))
        return bound(quantity, families, **how)

    monkeypatch.setattr(enough_rows, "bound", counted)
    assert rows_needed("demographic_parity", limit, rates=[0.215, 0.185], shares=HALVES) is None
    assert largest
    assert max(largest) < 10**5


def test_numbers_up_to_the_most_are_found():
    # 8.9 million: more than the last power of two, less than 10^7.
    rows = rows_needed("demographic_parity", 0.03067, rates=[0.215, 0.185], shares=HALVES)
    assert 2**23 < rows <= 10**7


def test_mistakes_are_named():
    with pytest.raises(InputError, match="for the same labels"):
        rows_needed("impact_ratio", 0.8, rates={None: [0.1, 0.2]}, shares={1: [0.5, 0.5]})
    with pytest.raises(InputError, match="Expected shares to have one entry"):
        rows_needed("impact_ratio", 0.8, rates=[0.1, 0.2], shares=[0.5])
    with pytest.raises(InputError, match="Expected rate between"):
        rows_needed("impact_ratio", 0.8, rates=[0.1, 1.2], shares=[0.5, 0.5])
    with pytest.raises(InputError, match="Expected power between"):
        rows_needed("impact_ratio", 0.8, rates=[0.1, 0.2], shares=[0.5, 0.5], power=1.0)
