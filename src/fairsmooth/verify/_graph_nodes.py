"""The nodes that a graph of a linear model has, in the verifier's own words.

One line per node, in order. What a graph computes is fixed by these lines and by its
constants, so that nothing else can be in it: no node more, none less, none changed.
"""

import re
from typing import Any, NamedTuple

_LINE = re.compile(r"(\w+) = (\w+)\(([^)]*)\)((?: \w+=-?\w+)*)")

FEATURES = """
mean = Gemm(features, weights, intercept)
square = ReduceSumSquare(features, features_axis) keepdims=1
"""

TEXTS = """
keys = StringConcat(prefixes, texts)
found = LabelEncoder(keys)
is_new = Less(found, no_place)
is_ambiguous = RegexFullMatch(texts)
is_normal = RegexFullMatch(texts)
is_not_normal = Not(is_normal)
is_odd = And(is_ambiguous, is_not_normal)
new_places = Where(is_odd, unusable, other_places)
text_places = Where(is_new, new_places, found)
"""

DATES = """
is_no_date = Equal(given_dates, missing_date)
is_wrong_date = Equal(given_dates, wrong_date)
is_void_date = Or(is_no_date, is_wrong_date)
moments = Where(is_void_date, epoch, given_dates)
days_rest = Mod(moments, day)
days_even = Sub(moments, days_rest)
days = Div(days_even, day)
days_from_monday = Add(days, weekday_start)
weekday = Mod(days_from_monday, week)
days_from_march = Add(days, to_march)
eras_rest = Mod(days_from_march, era)
eras_even = Sub(days_from_march, eras_rest)
eras = Div(eras_even, era)
day_of_era = Mod(days_from_march, era)
four_year_count = Div(day_of_era, four_years)
centuries_count = Div(day_of_era, century)
last_day_count = Div(day_of_era, era_end)
days_less = Sub(day_of_era, four_year_count)
days_more = Add(days_less, centuries_count)
days_of_years = Sub(days_more, last_day_count)
year_of_era = Div(days_of_years, year_days)
years_days = Mul(year_of_era, year_days)
leap_days = Div(year_of_era, four)
no_leap_days = Div(year_of_era, hundred)
days_before_leaps = Add(years_days, leap_days)
days_before = Sub(days_before_leaps, no_leap_days)
day_of_year = Sub(day_of_era, days_before)
fifths = Mul(day_of_year, five)
fifths_more = Add(fifths, two)
month_from_march = Div(fifths_more, months_days)
is_new_year = GreaterOrEqual(month_from_march, ten)
new_year = Cast(is_new_year) to=7
twelve_or_none = Mul(new_year, twelve)
month_after_march = Add(month_from_march, three)
month = Sub(month_after_march, twelve_or_none)
era_years_before = Mul(eras, era_years)
year_from_march = Add(year_of_era, era_years_before)
year = Add(year_from_march, new_year)
year_number = Cast(year) to=11
year_or_missing = Where(is_no_date, not_a_number, year_number)
year_column = Where(is_wrong_date, infinity, year_or_missing)
month_number = Cast(month) to=11
month_or_missing = Where(is_no_date, not_a_number, month_number)
month_column = Where(is_wrong_date, infinity, month_or_missing)
weekday_number = Cast(weekday) to=11
weekday_or_missing = Where(is_no_date, not_a_number, weekday_number)
weekday_column = Where(is_wrong_date, infinity, weekday_or_missing)
"""

BINS = """
compared = Gather(numbers, edge_columns) axis=1
is_above = Greater(compared, edges)
above = Cast(is_above) to=1
counts = MatMul(above, edge_owners)
intervals_below = Cast(counts) to=7
levels_of_numbers = Add(intervals_below, first_levels)
binned = Gather(numbers, binned_columns) axis=1
is_gap = IsNaN(binned)
is_infinite = IsInf(binned)
levels_or_gaps = Where(is_gap, gap_levels, levels_of_numbers)
levels = Where(is_infinite, refused_level, levels_or_gaps)
number_places = Gather(level_places, levels) axis=0
"""

SCALED = """
unscaled = Gather(numbers, scaled_columns) axis=1
is_missing = IsNaN(unscaled)
centred = Sub(unscaled, means)
divided = Div(centred, scales)
filled = Where(is_missing, no_number, divided)
sizes = Abs(filled)
largest = ReduceMax(sizes, scaled_axis) keepdims=1
at_least_huge = Max(largest, huge)
shrinking = Div(huge, at_least_huge)
scaled = Mul(filled, shrinking)
scaled_mean = MatMul(scaled, scaled_weights)
scaled_square = ReduceSumSquare(scaled, scaled_axis) keepdims=1
scaled_sums = Concat(scaled_mean, scaled_square) axis=1
missing_places = Where(is_missing, gap_places, nothing)
"""

SCORES = """
size = Add(mean, square)
void = Mul(size, zero)
noisy = Mul(square, noise)
variance = Add(noisy, variances)
deviation = Sqrt(variance)
standard = Div(mean, deviation)
bounded = Clip(standard, range_low, range_high)
bounded_column = Unsqueeze(bounded, last_axis)
phases = Mul(bounded_column, frequencies)
sines = Sin(phases)
sines_flat = Reshape(sines, flat)
sums = Gemm(sines_flat, amplitudes, half)
scores = Add(sums, void)
score = Gather(scores, first) axis=1
probability = Clip(score, zero, one)
is_positive = Greater(probability, threshold)
positive = Cast(is_positive) to=7
is_void = IsNaN(score)
decision = Where(is_void, no_decision, positive)
sides_up = Gather(scores, side_places) axis=1
sides = Clip(sides_up, least, most)
others = Sub(one, sides)
nearer = Min(sides, others)
logarithm = Log(nearer)
lifted = Sub(lift, logarithm)
root = Sqrt(lifted)
sloped = Mul(root, slope)
place = Add(sloped, start)
place_column = Unsqueeze(place, last_axis)
powers_of_place = Pow(place_column, powers)
powers_flat = Reshape(powers_of_place, power_rows)
distances_flat = Gemm(powers_flat, coefficients)
distances = Reshape(distances_flat, side_rows)
sides_row = Reshape(sides_up, side_rows)
from_middle = Sub(sides_row, middle)
direction = Sign(from_middle)
quantile = Mul(distances, direction)
shifted = Add(quantile, shifts)
shifted_bounded = Clip(shifted, range_low, range_high)
shifted_column = Reshape(shifted_bounded, column)
shifted_phases = Mul(shifted_column, frequencies)
shifted_sines = Sin(shifted_phases)
shifted_sums = Gemm(shifted_sines, wave_amplitudes, half_up)
by_shift = Reshape(shifted_sums, ends)
by_bound = Add(sides_row, bounds)
upper = Min(by_shift, by_bound)
upper_bounded = Clip(upper, zero, one)
turned = Mul(upper_bounded, turn)
both_ends = Add(turned, turned_from)
void_block = Unsqueeze(void, last_axis)
intervals = Add(both_ends, void_block)
"""


class Node(NamedTuple):
    """A node: its result, operation, inputs and attributes."""

    result: str
    operation: str
    inputs: tuple[str, ...]
    attributes: dict[str, Any]


def nodes_of(lines: str) -> list[Node]:
    """Read lines as nodes; attributes are whole numbers."""
    found = []
    for line in lines.strip().splitlines():
        matched = _LINE.fullmatch(line)
        assert matched is not None, line
        result, operation, inputs, attributes = matched.groups()
        pairs = (entry.split("=") for entry in attributes.split())
        named = {name: int(value) for name, value in pairs}
        found.append(Node(result, operation, tuple(inputs.split(", ")), named))
    return found


def summing(parts: list[str], *, scaled: bool) -> list[Node]:
    """Return the nodes that add up what every rule gives, in the order of the parts."""
    total = "totals" if scaled else "indicator_sums"
    lines = [
        "entries = Gather(table, places) axis=0",
        "entry_sums = ReduceSum(entries, rules_axis) keepdims=0",
        "indicator_sums = Add(entry_sums, intercept)",
        *(["totals = Add(indicator_sums, scaled_sums)"] if scaled else []),
        f"mean = Gather({total}, mean_place) axis=1",
        f"square = Gather({total}, square_place) axis=1",
    ]
    return [Node("places", "Concat", tuple(parts), {"axis": 1}), *nodes_of("\n".join(lines))]
