import inspect
import json
from fractions import Fraction
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from fairsmooth.core.contrasts import Contrast, bound
from fairsmooth.exceptions import GroupError, InputError, NoGuarantee
from fairsmooth.guarantees import GapGuarantee, Limits, guarantee_gaps
from fairsmooth.verify import verify_guarantee

QUANTITIES = (
    "demographic_parity",
    "equal_opportunity",
    "predictive_equality",
    "equalized_odds_max",
    "equalized_odds_sum",
    "impact_ratio",
)
LOOSE = {name: 0.0 if name == "impact_ratio" else 1.0 for name in QUANTITIES}


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(3)
    n = 3000
    group = rng.choice(["a", "b"], n, p=[0.4, 0.6])
    truth = (rng.random(n) < 0.35).astype(int)
    decision = (rng.random(n) < 0.15 + 0.4 * truth + 0.04 * (group == "a")).astype(int)
    return decision, group, truth


def counted(rows, label=None):
    decision, group, truth = rows
    keep = np.ones(len(truth), bool) if label is None else truth == label
    return [
        (int(decision[keep & (group == g)].sum()), int((keep & (group == g)).sum())) for g in "ab"
    ]


def test_every_quantity_is_the_bound_of_its_cells(rows):
    decision, group, truth = rows
    found = guarantee_gaps(decision, sensitive_features=group, y_true=truth, limits=LOOSE)
    gap = Contrast()
    error = 1 - 0.95
    positive, negative = counted(rows, 1), counted(rows, 0)
    assert found.bounds["demographic_parity"] == bound(counted(rows), gap, error=error)
    assert found.bounds["equal_opportunity"] == bound(positive, gap, error=error)
    assert found.bounds["predictive_equality"] == bound(negative, gap, error=error)
    assert found.bounds["equalized_odds_max"] == max(
        found.bounds["equal_opportunity"], found.bounds["predictive_equality"]
    )
    halves = [bound(cells, gap, error=error / 2) for cells in (positive, negative)]
    assert found.bounds["equalized_odds_sum"] == pytest.approx(sum(halves), rel=1e-14)
    assert found.bounds["equalized_odds_sum"] >= sum(halves)
    ratio = Contrast(ratio=True)
    assert found.bounds["impact_ratio"] == bound(counted(rows), ratio, error=error)
    assert found.holds
    rates = [x / n for x, n in counted(rows)]
    assert found.measured["demographic_parity"] == pytest.approx(abs(rates[0] - rates[1]))
    assert found.measured["impact_ratio"] == pytest.approx(min(rates) / max(rates))
    assert set(found.radius) == {"total_variation", "hellinger", "chi_square", "density_ratio"}


def test_a_limit_below_the_bound_does_not_hold(rows):
    decision, group, _ = rows
    limits = {"demographic_parity": 0.5}
    value = guarantee_gaps(decision, sensitive_features=group, limits=limits).bounds
    for factor, holds in ((0.999, False), (1.001, True)):
        limits = {"demographic_parity": value["demographic_parity"] * factor}
        assert guarantee_gaps(decision, sensitive_features=group, limits=limits).holds is holds


def test_a_shift_loosens_bounds_by_what_it_must(rows):
    decision, group, _ = rows
    plain = guarantee_gaps(decision, sensitive_features=group, limits={"demographic_parity": 0.5})
    shifted = guarantee_gaps(
        decision,
        sensitive_features=group,
        limits={"demographic_parity": 0.5},
        shift=("total_variation", 0.01),
    )
    difference = shifted.bounds["demographic_parity"] - plain.bounds["demographic_parity"]
    assert difference == pytest.approx(0.02, abs=2e-4)
    assert plain.radius == shifted.radius
    assert "every population" in str(shifted)


def test_empty_cells_never_hold():
    # Group b has no positive label: its true positive rate is unknown, not equal.
    decision, group, truth = [1, 0] * 50, ["a"] * 50 + ["b"] * 50, [1, 0] * 25 + [0] * 50
    limits = {"equal_opportunity": 1.0, "equalized_odds_sum": 2.0}
    found = guarantee_gaps(decision, sensitive_features=group, y_true=truth, limits=limits)
    assert found.bounds == {"equal_opportunity": 1.0, "equalized_odds_sum": 2.0}
    assert found.measured == {"equal_opportunity": None, "equalized_odds_sum": None}
    assert not found.holds
    assert "no rows" in str(found)


def test_a_group_missing_from_a_stratum_does_not_vanish():
    decision = [0, 1] * 100
    group = ["a", "b"] * 50 + ["a"] * 100
    stratum = ["x"] * 100 + ["y"] * 100
    found = guarantee_gaps(
        decision,
        sensitive_features=group,
        control_features=stratum,
        limits={"impact_ratio": 0.0, "demographic_parity": 1.0},
    )
    assert not found.holds
    assert found.strata["x"].holds
    assert not found.strata["y"].holds
    assert found.strata["y"].bounds == {"impact_ratio": 0.0, "demographic_parity": 1.0}
    assert found.strata["x"].counts[0].stratum == "x"


def test_columns_may_have_limits_of_their_own(rows):
    decision, group, _ = rows
    other = np.resize(["u", "v", "w"], len(group))
    frame = pd.DataFrame({"sex": group, "race": other})
    limits = {"sex": {"demographic_parity": 0.2}, "race": Limits(impact_ratio=0.5)}
    found = guarantee_gaps(decision, sensitive_features=frame, limits=limits)
    assert set(found.bounds) == {"sex:demographic_parity", "race:impact_ratio"}
    alone = guarantee_gaps(decision, sensitive_features=group, limits={"demographic_parity": 0.2})
    assert found.bounds["sex:demographic_parity"] == alone.bounds["demographic_parity"]
    crossed = guarantee_gaps(decision, sensitive_features=frame, limits={"demographic_parity": 0.2})
    assert len({count.group for count in crossed.counts}) == 6


def test_a_series_shows_only_whether_it_passed(rows):
    decision, group, _ = rows
    limits = {"demographic_parity": 0.2}
    found = guarantee_gaps(decision, sensitive_features=group, limits=limits, attempt=3)
    assert found.error == pytest.approx(0.05 / 12)
    assert (found.bounds, found.measured, found.radius, found.counts) == ({}, {}, {}, None)
    assert found.holds
    text = str(found) + found._repr_html_() + json.dumps(found.to_dict())
    shown = guarantee_gaps(decision, sensitive_features=group, limits=limits)
    assert f"{shown.measured['demographic_parity']:.4f}" not in text
    assert str(shown.counts[0].positive) not in text
    # The limit is tested at the smaller error.
    tight = {"demographic_parity": shown.bounds["demographic_parity"]}
    assert guarantee_gaps(decision, sensitive_features=group, limits=tight).holds
    assert not guarantee_gaps(decision, sensitive_features=group, limits=tight, attempt=1).holds


def test_scores_are_bounded_by_boxes_and_called_expected(rows):
    decision, group, truth = rows
    scores = 0.2 + 0.6 * truth
    found = guarantee_gaps(
        scores, sensitive_features=group, limits={"demographic_parity": 0.3}, scores=True
    )
    assert "expected selection rates" in str(found)
    assert found.measured["demographic_parity"] < found.bounds["demographic_parity"] < 0.2
    drawn = guarantee_gaps(
        decision.astype(float),
        sensitive_features=group,
        limits={"demographic_parity": 0.3},
        scores=True,
    )
    exact = guarantee_gaps(decision, sensitive_features=group, limits={"demographic_parity": 0.3})
    assert drawn.bounds["demographic_parity"] > exact.bounds["demographic_parity"]


def test_plain_data_and_back(rows):
    decision, group, truth = rows
    groups = pd.DataFrame({"g": group, "h": np.resize([1, 2], len(group))})
    found = guarantee_gaps(
        decision, sensitive_features=groups, y_true=truth, limits=LOOSE, shift=("hellinger", 0.01)
    ).with_provenance(model="sha256:abc")
    plain = json.loads(json.dumps(found.to_dict()))
    assert GapGuarantee.from_dict(plain) == found
    for key, value in (("holds", False), ("bounds", {}), ("extra", 1)):
        with pytest.raises(InputError, match=r"parts agree, got one that differs"):
            GapGuarantee.from_dict(plain | {key: value})
    with pytest.raises(InputError, match="Expected a guarantee as written by"):
        GapGuarantee.from_dict({key: plain[key] for key in plain if key != "claims"})


def test_text_rounds_outward(rows):
    decision, group, truth = rows
    found = guarantee_gaps(decision, sensitive_features=group, y_true=truth, limits=LOOSE)
    text = str(found)
    for name, value in found.bounds.items():
        if name == "impact_ratio":
            printed = np.floor(value * 1e4) / 1e4
            assert printed <= value
        else:
            printed = np.ceil(value * 1e4) / 1e4
            assert printed >= value
        assert f"{printed:.4f}" in text
    assert "by itself, not all together" in text
    assert "<table>" in found._repr_html_()


def test_labels_are_escaped_in_html():
    found = guarantee_gaps(
        [0, 1] * 20,
        sensitive_features=["a", "a", "b", "b"] * 10,
        control_features=["<script>"] * 40,
        limits={"demographic_parity": 0.9},
    )
    assert "<script>" not in found._repr_html_()


def test_the_signature_is_the_promised_one():
    names = list(inspect.signature(guarantee_gaps).parameters)
    assert names[:8] == [
        "y_pred",
        "sensitive_features",
        "y_true",
        "limits",
        "confidence",
        "shift",
        "attempt",
        "scores",
    ]


def test_a_failure_can_carry_its_guarantee():
    error = NoGuarantee("no model", guarantee="g")
    assert error.guarantee == "g"


ARGUMENTS = {"sensitive_features": list("aabb"), "limits": {"demographic_parity": 0.5}}


@pytest.mark.parametrize(
    ("changed", "kind", "message"),
    [
        ({"sample_weight": [1] * 4}, InputError, "Expected unweighted rows, got sample_weight"),
        ({"colour": 1}, TypeError, "unexpected keyword argument 'colour'"),
        ({"limits": {}}, InputError, "Expected at least one limit"),
        ({"limits": {"parity": 0.1}}, InputError, "Expected limit to be one of"),
        ({"limits": {"demographic_parity": 1.5}}, InputError, "between 0.0 and 1.0"),
        ({"limits": {"demographic_parity": "x"}}, InputError, "Expected a number as the limit"),
        ({"limits": 0.1}, InputError, "Expected limits like"),
        (
            {"limits": {"demographic_parity": 0.1, "sex": {"impact_ratio": 0.8}}},
            InputError,
            "either by quantity or by sensitive column",
        ),
        ({"limits": {"sex": {"impact_ratio": 0.8}}}, InputError, "as a DataFrame with a column"),
        ({"limits": {"equal_opportunity": 0.1}}, InputError, "Expected y_true, which"),
        ({"confidence": "95"}, InputError, "Expected confidence of at least 0.5 and below 1"),
        ({"confidence": 1.0}, InputError, "Expected confidence of at least 0.5 and below 1"),
        (
            {"limits": Limits(impact_ratio=0.5, confidence=0.9), "confidence": 0.99},
            InputError,
            "Expected one confidence",
        ),
        ({"shift": "hellinger"}, InputError, r"Expected shift as \(divergence, radius\)"),
        ({"shift": ("kl", 0.1)}, InputError, "Expected shift to be one of"),
        ({"shift": ("hellinger", "x")}, InputError, "Expected a number as the radius"),
        ({"shift": ("hellinger", 2.0)}, InputError, "between 0.0 and 1.0"),
        ({"attempt": 1.0}, InputError, "Expected attempt as a whole number from 1"),
        ({"attempt": 0}, InputError, "Expected attempt as a whole number from 1"),
        ({"y_true": [0, 1]}, InputError, "one entry per decision"),
        ({"y_true": [0, 1, 2, 0]}, InputError, "Expected labels 0 or 1"),
        ({"y_true": [0, 1, None, 0]}, InputError, "Expected labels 0 or 1"),
        ({"y_pred": [0, 1, 0.5, 1]}, InputError, "Expected decisions 0 or 1"),
        ({"y_pred": ["a", "b", "a", "b"]}, InputError, "Expected numbers 0 or 1 in y_pred"),
        ({"y_pred": [[0, 1], [1, 0]]}, InputError, "Expected one column of rows"),
        ({"y_pred": [0, 1, 2, 1], "scores": True}, InputError, "Expected scores between 0 and 1"),
        ({"sensitive_features": list("aaaa")}, GroupError, "Expected at least 2 groups"),
        ({"sensitive_features": ["a", None, "b", "b"]}, InputError, "1 missing"),
        (
            {"sensitive_features": pd.Series([Path("a"), "a", "b", "b"], dtype=object)},
            GroupError,
            "Expected groups whose texts differ",
        ),
    ],
)
def test_mistakes_are_named(changed, kind, message):
    arguments = {"y_pred": [0, 1, 0, 1], **ARGUMENTS, **changed}
    with pytest.raises(kind, match=message):
        guarantee_gaps(arguments.pop("y_pred"), **arguments)


@pytest.mark.parametrize("kind", [np.float32, np.float64, Fraction])
def test_numbers_of_every_kind_are_numbers(kind):
    arguments = {"sensitive_features": ["a", "b"] * 50}
    plain = guarantee_gaps(
        [0, 1, 1, 0] * 25,
        **arguments,
        limits={"demographic_parity": 0.75},
        confidence=0.75,
        shift=("hellinger", 0.125),
    )
    for limits in (
        {"demographic_parity": kind(0.75)},
        Limits(demographic_parity=kind(0.75), confidence=kind(0.75)),
    ):
        found = guarantee_gaps(
            [0, 1, 1, 0] * 25,
            **arguments,
            limits=limits,
            confidence=kind(0.75),
            shift=("hellinger", kind(0.125)),
        )
        assert json.dumps(found.to_dict()) == json.dumps(plain.to_dict())
    tried = guarantee_gaps([0, 1] * 50, **arguments, limits=limits, attempt=np.int64(2))
    assert json.loads(json.dumps(tried.to_dict()))["attempt"] == 2


def test_the_sum_of_two_gaps_is_never_bounded_by_more_than_2():
    found = guarantee_gaps(
        [0, 1] * 4,
        sensitive_features=["a", "b"] * 4,
        y_true=[0, 0, 1, 1] * 2,
        limits={"equalized_odds_sum": 2.0},
    )
    assert found.bounds == {"equalized_odds_sum": 2.0}
    assert found.holds
    assert "at most 2.0000" in str(found)
    assert verify_guarantee(found.to_dict()).holds


def test_limits_know_their_names():
    assert Limits(demographic_parity=0.1, confidence=0.9).to_dict() == {"demographic_parity": 0.1}
    with pytest.raises(InputError, match=r"between 0\.0 and 2\.0"):
        Limits(equalized_odds_sum=2.5)
    found = guarantee_gaps(
        [0, 1] * 50,
        sensitive_features=["a", "b"] * 50,
        limits=Limits(demographic_parity=1.0, confidence=0.8),
    )
    assert found.confidence == 0.8
