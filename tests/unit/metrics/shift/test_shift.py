import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression

from fairsmooth import FairSmoothClassifier
from fairsmooth.exceptions import InputError
from fairsmooth.metrics import audit, audit_shift
from fairsmooth.metrics.shift.scenarios import exponential_tilt, label_shift, partitions
from fairsmooth.metrics.shift.worst_case import largest_mean, smallest_mean

RATES = ("selection_rate", "true_positive_rate", "false_positive_rate", "error_rate")
GAPS = ("demographic_parity", "equalized_odds_sum", "equalized_odds_max")


def by_hand(scores, y, group, weights):
    """Every rate of every group and every gap, straight from the definitions."""
    errors = np.abs(scores - y)
    parts = (
        (scores, np.ones_like(y, dtype=bool)), (scores, y == 1), (scores, y == 0),
        (errors, np.ones_like(y, dtype=bool)),
    )  # fmt: skip
    found = {}
    for name, (value, rows) in zip(RATES, parts, strict=True):
        for label in ("f", "m", None):
            mine = rows & ((group == label) if label else True)
            found[name, label] = np.average(value[mine], weights=weights[mine])
    gap = {name: abs(found[name, "f"] - found[name, "m"]) for name in RATES}
    tpr, fpr = gap["true_positive_rate"], gap["false_positive_rate"]
    found |= {
        ("demographic_parity", None): gap["selection_rate"],
        ("equalized_odds_sum", None): tpr + fpr,
        ("equalized_odds_max", None): max(tpr, fpr),
    }
    return found


@pytest.fixture(scope="module")
def reference(shared_case):
    case = shared_case
    return LogisticRegression().fit(case.X[:100], case.y[:100])


@pytest.fixture(scope="module")
def curves(shared_case, reference):
    case = shared_case
    return audit_shift(
        case.clf, case.X, case.y, sensitive_features=case.group, reference=reference, columns=[1]
    )


def test_reweighted_curves_follow_the_definitions(case, reference, curves):
    scores = case.clf.predict_proba(case.X)[:, 1]
    other = reference.predict_proba(case.X)[:, 1]
    scenarios = [*label_shift(case.y), *exponential_tilt(case.X[:, 1], name="1")]
    points = {(p.curve, p.strength, p.metric, p.group): p for p in curves.points}
    assert scenarios
    for scenario in scenarios:
        for prefix, columns in (
            ("expected_", (scores, other)),
            ("", ((scores > 0.5) * 1.0, reference.predict(case.X) * 1.0)),
        ):
            value, compared = (
                by_hand(column, case.y, case.group, scenario.weights[0]) for column in columns
            )
            for (metric, group), expected in value.items():
                point = points[scenario.curve, scenario.strength, prefix + metric, group]
                assert point.value == pytest.approx(expected, abs=1e-12)
                assert point.reference == pytest.approx(compared[metric, group], abs=1e-12)


def test_guarantees_of_expected_rates_are_the_groups_own_within_epsilon(case, curves):
    own = case.clf.predict_proba_group(case.X, "f")[:, 1]
    mine = case.group == "f"
    epsilon = case.clf.certificate_.epsilon_by_group["f"]
    for scenario in exponential_tilt(case.X[:, 1], name="1"):
        rate = np.average(own[mine], weights=scenario.weights[0][mine])
        (point,) = (
            p
            for p in curves.points
            if (p.curve, p.strength, p.metric, p.group)
            == ("tilt:1", scenario.strength, "expected_selection_rate", "f")
        )
        assert (point.low, point.high) == pytest.approx((rate - epsilon, rate + epsilon))


def test_every_value_lies_within_its_guarantee(curves):
    assert {p.curve for p in curves.points} == {
        "partition", "group_mix:f", "group_mix:m", "label_shift", "tilt:1",
        "chi_square_largest", "chi_square_smallest", "hellinger_largest", "hellinger_smallest",
    }  # fmt: skip
    for p in curves.points:
        assert p.low - 1e-12 <= p.value <= p.high + 1e-12, p


def test_partitions_show_mean_and_spread_over_draws(case, curves):
    points = [p for p in curves.points if p.curve == "partition"]
    assert {p.strength for p in points} == {0.05, 0.10, 0.15, 0.30, 0.40}
    assert all(p.spread_low <= p.value <= p.spread_high for p in points)
    widths = {
        p.strength: p.spread_high - p.spread_low
        for p in points
        if p.metric == "expected_selection_rate" and p.group is None
    }
    assert widths[0.05] > widths[0.40]
    assert next(iter(partitions(600))).weights.shape == (20, 600)


def test_the_mix_of_groups_moves_no_gap(curves):
    moving, still = (
        {round(p.value, 12) for p in curves.points
         if p.curve == "group_mix:f" and p.metric == metric and p.group is None}
        for metric in ("expected_error_rate", "expected_demographic_parity")
    )  # fmt: skip
    assert len(moving) == 9
    assert len(still) == 1


def test_the_mix_of_many_groups_is_shown_for_all_rows_alone():
    """It moves no rate of a group: 20 curves of the same rates were 400 KB of JSON per group."""
    draw = np.random.default_rng(0)
    groups = np.repeat([f"g{k:02d}" for k in range(21)], 6)
    X, y = draw.normal(size=(126, 2)), np.tile([0, 1], 63)
    clf = FairSmoothClassifier(random_state=0, free_reference=False)
    clf.fit(X, y, sensitive_features=groups)
    few, many = (
        [p for p in audit_shift(clf, X[:n], y[:n], sensitive_features=groups[:n]).points
         if p.curve == "group_mix:g00"]
        for n in (120, 126)
    )  # fmt: skip
    assert {p.group for p in few} == {None, *clf.groups_}
    assert {p.group for p in many} == {None}
    assert {p.metric for p in many} == {p.metric for p in few}
    decided = clf.predict(X)[groups == "g00"].mean(), clf.predict(X)[groups != "g00"].mean()
    for point in many:
        if point.metric == "selection_rate":
            mixed = point.strength * decided[0] + (1.0 - point.strength) * decided[1]
            assert point.value == pytest.approx(mixed)


def test_worst_gap_is_attained_by_reweighting_each_group(case, curves):
    scores = case.clf.predict_proba(case.X)[:, 1]
    female, male = (scores[case.group == group] for group in ("f", "m"))
    for ball, radius in (("chi_square", 0.25), ("hellinger", 0.2)):
        arguments = {"ball": ball, "radii": [radius]}
        expected = max(
            largest_mean(a, **arguments)[0] - smallest_mean(b, **arguments)[0]
            for a, b in ((female, male), (male, female))
        )
        (point,) = (
            p
            for p in curves.points
            if (p.curve, p.strength, p.metric)
            == (f"{ball}_largest", radius, "expected_demographic_parity")
        )
        assert point.value == pytest.approx(expected)


def test_a_ball_of_radius_zero_changes_nothing(case, curves):
    plain = audit(case.clf, case.X, case.y, sensitive_features=case.group)
    unmoved = [p for p in curves.points if p.strength == 0.0]
    assert len(unmoved) > 100
    for p in unmoved:
        assert p.value == pytest.approx(plain.find(p.metric, p.group).value, abs=1e-12)


def test_effective_counts(case, curves):
    even = [p for p in curves.points if p.curve == "tilt:1" and p.strength == 0.0]
    counts = {p.group: p.effective_count for p in even}
    expected = {"f": (case.group == "f").sum(), "m": (case.group == "m").sum(), None: 600}
    assert counts == pytest.approx(expected)
    tilted = [p for p in curves.points if p.curve == "tilt:1" and p.strength == 1.0]
    assert all(p.effective_count < expected[p.group] for p in tilted)


def test_default_columns_are_those_that_move_the_score(case):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(case.X, columns=["a", "b"])
    wide = frame.assign(noise=rng.normal(size=600), flat=1.0)

    class Narrow:
        classes_ = case.clf.classes_

        def predict_proba(self, X):
            return case.clf.predict_proba(X[["a", "b"]])

        def predict(self, X):
            return case.clf.predict(X[["a", "b"]])

    curves = audit_shift(Narrow(), wide, case.y, sensitive_features=case.group)
    tilts = {p.curve for p in curves.points if p.curve.startswith("tilt")}
    assert tilts == {"tilt:a", "tilt:b", "tilt:noise"}


def test_points_as_a_table(curves):
    frame = curves.to_frame()
    assert len(frame) == len(curves.points) == len(curves.to_dict())
    assert all(group is None for group in frame.loc[frame["metric"].isin(GAPS), "group"])


def test_groups_without_positives_are_left_out(case):
    y = np.where(case.group == "f", 0, case.y)
    curves = audit_shift(case.clf, case.X, y, sensitive_features=case.group)
    odds = [p for p in curves.points if "equalized_odds" in p.metric]
    assert odds
    assert all(np.isnan(p.value) for p in odds)


@pytest.mark.parametrize(
    ("as_frame", "columns", "message"),
    [
        (True, ["hour"], r"Expected a column named 'hour' in X.*Did you mean 'hours'"),
        (False, [2], "Expected a column between 0 and 1, got 2"),
        (False, ["age"], "Names of columns need X as a DataFrame"),
    ],
)
def test_unknown_columns(case, as_frame, columns, message):
    X = pd.DataFrame(case.X, columns=["age", "hours"]) if as_frame else case.X
    with pytest.raises(InputError, match=message):
        audit_shift(case.clf, X, case.y, sensitive_features=case.group, columns=columns)
