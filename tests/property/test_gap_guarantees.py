"""What must hold of every bound, whatever the counts."""

from hypothesis import given, settings
from hypothesis import strategies as st

from fairsmooth.core.contrasts import DIVERGENCES, Contrast, bound, radius
from fairsmooth.core.contrasts.anytime import anytime_bound
from fairsmooth.guarantees.rounding import ceiling, floor

ERROR = 0.05
cell = st.integers(1, 300).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))
cells = st.lists(cell, min_size=2, max_size=4)
contrasts = st.builds(
    Contrast,
    ratio=st.booleans(),
    divergence=st.sampled_from(list(DIVERGENCES.values())),
    radius=st.floats(0.0, 0.5),
)


def measured(counts, contrast):
    rates = [x / n for x, n in counts]
    found = [
        contrast.worst(a, b) for i, a in enumerate(rates) for j, b in enumerate(rates) if i != j
    ]
    return min(found) if contrast.ratio else max(found)


def boxes(counts, contrast, error):
    from fairsmooth.core.contrasts import interval

    ends = [interval(x, n, error=error / 2) for x, n in counts]
    found = [contrast.worst(a[1], b[0]) for a in ends for b in ends if a is not b]
    return min(found) if contrast.ratio else max(found)


@settings(max_examples=60)
@given(cells, contrasts)
def test_between_the_measured_value_and_the_boxes(counts, contrast):
    found = bound(counts, contrast, error=ERROR)
    box = boxes(counts, contrast, ERROR * 49 / 50)
    if contrast.ratio:
        assert box - 1e-9 <= found <= measured(counts, contrast) + 1e-9
    else:
        assert measured(counts, contrast) - 1e-9 <= found <= box + 1e-9


@settings(max_examples=40)
@given(cells, contrasts)
def test_order_of_the_groups_is_irrelevant(counts, contrast):
    found = bound(counts, contrast, error=ERROR)
    again = bound(counts[::-1], contrast, error=ERROR)
    assert abs(found - again) <= 1e-5


@settings(max_examples=30)
@given(cells, contrasts, st.floats(0.05, 0.95))
def test_a_bound_at_the_certified_radius_is_near_the_limit(counts, contrast, limit):
    found = radius(counts, contrast, limit, error=ERROR)
    assert 0.0 <= found <= contrast.divergence.largest
    if found > 0.0:
        # The measured value keeps the limit there, and the boxes prove no more than was found.
        assert contrast.at(found * (1 - 1e-9)).within(*_worst_rates(counts, contrast), limit)


def _worst_rates(counts, contrast):
    rates = sorted(x / n for x, n in counts)
    return rates[-1], rates[0]


@settings(max_examples=30)
@given(cells)
def test_looking_whenever_one_likes_costs_something(counts):
    assert anytime_bound(counts, ratio=False, error=ERROR) >= bound(counts, Contrast(), error=ERROR)


@given(st.floats(0.0, 2.0))
def test_printed_bounds_are_bounds(value):
    from fractions import Fraction

    assert Fraction(ceiling(value)) >= Fraction(value)
    assert Fraction(floor(value)) <= Fraction(value)
    assert float(ceiling(value)) - float(floor(value)) <= 1.0001e-4
