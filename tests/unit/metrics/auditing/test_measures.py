"""Measures of the trade, against other libraries and by hand."""

import numpy as np
import pytest
from scipy.stats import binom, binomtest
from sklearn.metrics import (
    brier_score_loss,
    precision_score,
    recall_score,
    roc_auc_score,
)

from fairsmooth.metrics import audit
from fairsmooth.metrics.auditing.ratio_records import four_fifths


@pytest.fixture
def rows():
    rng = np.random.default_rng(1)
    group = rng.choice(["a", "b", "c"], 900)
    score = np.clip(rng.beta(2, 3, 900) + 0.1 * (group == "b"), 0, 1).round(2)
    y = (rng.random(900) < score).astype(int)
    return y, score, group


@pytest.fixture
def result(rows):
    y, score, group = rows
    return audit(y_true=y, y_score=score, sensitive_features=group)


@pytest.mark.parametrize("group", ["a", "b", "c", None])
def test_measures_agree_with_scikit_learn(rows, result, group):
    y, score, groups = rows
    mine = np.ones(900, dtype=bool) if group is None else groups == group
    y, score = y[mine], score[mine]
    expected = {
        "auc": roc_auc_score(y, score),
        "precision": precision_score(y, score > 0.5),
        "false_negative_rate": 1 - recall_score(y, score > 0.5),
        "brier_score": brier_score_loss(y, score),
        "base_rate": y.mean(),
        "calibration": score.mean() - y.mean(),
    }
    for metric, value in expected.items():
        record = result.find(metric, group)
        assert record.value == pytest.approx(value)
        assert record.low <= record.value <= record.high


def test_calibration_error_is_made_of_the_bins(rows, result):
    _, _, groups = rows
    bins = range(1, 11)
    for group in ("a", "b", None):
        shares = [result.find(f"calibration_bin_{n}_positive_share", group) for n in bins]
        means = [result.find(f"calibration_bin_{n}_mean_score", group) for n in bins]
        pairs = [(s, m) for s, m in zip(shares, means, strict=True) if s is not None]
        n_rows = sum(share.count for share, _ in pairs)
        assert n_rows == (900 if group is None else (groups == group).sum())
        off = sum(share.count * abs(share.value - mean.value) for share, mean in pairs) / n_rows
        assert result.find("expected_calibration_error", group).value == pytest.approx(off)
    assert not any(key.startswith("calibration_bin") for key in result.summary()["groups"][0])


def test_the_impact_ratio_of_every_group_and_the_least(rows, result):
    _, score, groups = rows
    rates = {g: (score[groups == g] > 0.5).mean() for g in "abc"}
    ratios = {g: rate / max(rates.values()) for g, rate in rates.items()}
    for group, ratio in ratios.items():
        record = result.find("impact_ratio", group)
        assert record.value == pytest.approx(ratio)
        assert record.low <= record.value <= record.high
    record = result.find("impact_ratio")
    assert record.value == pytest.approx(min(ratios.values()))
    assert 0 < record.low < record.value < record.high <= 1
    assert result.summary()["four_fifths"] == four_fifths(record.value)


@pytest.mark.parametrize("rates", [(0.5, 0.5), (0.3, 0.24), (0.1, 0.02), (0.05, 0.6)])
def test_impact_ratio_intervals_cover_the_truth_exactly(rates):
    # Every sample of two groups of 12 and 15 rows, weighed by its probability.
    sizes = (12, 15)
    truth = {"a": rates[0] / max(rates), "b": rates[1] / max(rates), None: min(rates) / max(rates)}
    missed = dict.fromkeys(truth, 0.0)
    for a in range(13):
        for b in range(16):
            weight = binom.pmf(a, sizes[0], rates[0]) * binom.pmf(b, sizes[1], rates[1])
            found = _ratios((a, b), sizes)
            for group, value in truth.items():
                if not found[group].low <= value <= found[group].high:
                    missed[group] += weight
    assert all(share <= 0.05 for share in missed.values()), missed


def _ratios(hits, sizes):
    from fairsmooth.metrics.auditing.ratio_records import ratio_records
    from fairsmooth.metrics.given import given_rows

    decided = np.concatenate([np.arange(n) < x for x, n in zip(hits, sizes, strict=True)])
    scored = given_rows(
        y_pred=decided.astype(int), sensitive_features=np.repeat(["a", "b"], sizes), pos_label=1
    )
    return {record.group: record for record in ratio_records(scored, confidence=0.95)}


@pytest.mark.parametrize("n_groups", [2, 3, 200])
def test_ratios_of_many_groups_are_the_formula_s(n_groups):
    """Every group's ends by hand, with groups of which nobody or everybody is selected."""
    rng = np.random.default_rng(4)
    sizes = rng.integers(2, 60, n_groups)
    hits = rng.binomial(sizes, 0.3)
    hits[0], hits[-1] = 0, sizes[-1]
    names = np.array([f"{code:03d}" for code in range(n_groups)])
    decided = np.concatenate([np.arange(n) < x for x, n in zip(hits, sizes, strict=True)])
    found = audit(y_pred=decided.astype(int), sensitive_features=np.repeat(names, sizes))

    def ends(code, error):
        result = binomtest(int(hits[code]), int(sizes[code]))
        interval = result.proportion_ci(1 - 2 * error, method="exact")
        return interval.low, interval.high

    own = [ends(code, 0.05 / 4) for code in range(n_groups)]
    shared = [ends(code, 0.05 / 4 / (n_groups - 1)) for code in range(n_groups)]
    for code, name in enumerate(names):
        above = max(own[other][1] for other in range(n_groups) if other != code)
        below = max(shared[other][0] for other in range(n_groups) if other != code)
        low, high = own[code][0] / above, min(1.0, own[code][1] / below) if below else 1.0
        record = found.find("impact_ratio", str(name))
        assert (record.low, record.high) == pytest.approx((min(1.0, low), high), abs=1e-9)
        assert record.count == sizes[code]


def test_the_summary_of_a_group_has_its_records(result):
    for mine in result.summary()["groups"]:
        records = [record for record in result.records if record.group == mine["group"]]
        shown = [record for record in records if not record.metric.startswith("calibration_bin")]
        assert mine["count"] == next(r.count for r in records if r.metric == "selection_rate")
        for record in shown:
            assert mine[record.metric] == record.value
            assert mine.get(f"{record.metric}_low") == record.low
        names = {"group", "count"} | {record.metric for record in shown}
        assert names == {key.removesuffix("_low").removesuffix("_high") for key in mine}


def test_nobody_selected_is_an_equal_treatment():
    found = _ratios((0, 0), (12, 15))
    assert [record.value for record in found.values()] == [1.0, 1.0, 1.0]
    assert found[None].low == 0.0


def test_one_group_has_no_ratio_between_groups():
    result = audit(y_pred=[0, 1], sensitive_features=["a", "a"])
    assert result.find("impact_ratio", "a").value == 1.0
    record = result.find("impact_ratio")
    assert np.isnan(record.value)
    assert "fewer than two groups" in record.note
    assert result.summary()["four_fifths"] is None
    assert any("not measured: the impact ratio" in s.text for s in result.statements)


def test_a_group_of_the_model_without_rows_is_named(case):
    rows = case.group == "m"
    result = audit(case.clf, case.X[rows], case.y[rows], sensitive_features=case.group[rows])
    for metric in ("impact_ratio", "auc", "calibration", "brier_score", "precision", "base_rate"):
        record = result.find(metric, "f")
        assert np.isnan(record.value)
        assert record.note.startswith("undefined")


def test_the_ratio_of_three_groups_of_which_one_is_absent(probit_model):
    clf = probit_model([[1.0, 0.0]] * 3, sigma=0.1, groups=("f", "m", "x"))
    X = np.linspace(-1, 1, 40)[:, None]
    groups = np.repeat(["f", "m"], 20)
    record = audit(clf, X, sensitive_features=groups).find("impact_ratio")
    assert record.value == 0.0
    assert record.note == "over the groups with rows; 1 have none"


@pytest.mark.parametrize(
    ("hits", "words"),
    [
        ((900, 890), "kept on this sample; so it is"),
        ((9, 8), "kept on this sample; the sample cannot tell"),
        ((9, 7), "broken on this sample; the sample cannot tell"),
        ((900, 300), "broken on this sample; so it is"),
    ],
)
def test_the_verdict_on_the_four_fifths_rule(hits, words):
    size = 10 if max(hits) < 10 else 1000
    decided = np.concatenate([np.arange(size) < x for x in hits]).astype(int)
    result = audit(y_pred=decided, sensitive_features=np.repeat(["a", "b"], size))
    (statement,) = [one for one in result.statements if one.kind == "ratio"]
    assert words in statement.text
    assert not statement.certified
