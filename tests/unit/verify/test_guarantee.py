"""Gap guarantees, true and forged, before the independent check."""

import copy
import math
from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import binom

from fairsmooth.core.contrasts import DIVERGENCES, Contrast, bound, radius
from fairsmooth.guarantees import guarantee_gaps
from fairsmooth.verify import verify_guarantee
from fairsmooth.verify._binomial import Binomial, Window

LIMITS = {
    "demographic_parity": 0.2,
    "equalized_odds_max": 0.3,
    "equalized_odds_sum": 0.55,
    "impact_ratio": 0.5,
}


def rows(seed=0, n=600):
    rng = np.random.default_rng(seed)
    group = np.resize(["a", "b"], n)
    truth = (rng.random(n) < 0.4).astype(int)
    decision = (rng.random(n) < 0.3 + 0.2 * truth + 0.02 * (group == "a")).astype(int)
    return decision, {"sensitive_features": group, "y_true": truth, "limits": LIMITS}


@pytest.fixture(scope="module")
def plain():
    decision, arguments = rows()
    return guarantee_gaps(decision, **arguments).to_dict()


def test_a_true_guarantee_is_confirmed(plain):
    found = verify_guarantee(plain)
    assert found.holds, found.failures
    assert "that the counts are those of the safety rows" in found.trusted[0]
    assert "trust that the counts" in str(found)
    again = verify_guarantee(plain, counts=plain["counts"])
    assert again.holds
    assert not any("counts" in what for what in again.trusted)


@pytest.mark.parametrize(
    "more",
    [
        {"shift": ("hellinger", 0.02)},
        {"shift": ("chi_square", 0.01)},
        {"shift": ("density_ratio", 0.05)},
        {"shift": ("total_variation", 0.01)},
        {"scores": True},
        {"control_features": np.resize([1, 1, 2], 600)},
        {"confidence": 0.99},
    ],
    ids=lambda more: next(iter(more)),
)
def test_guarantees_of_every_kind_are_confirmed(more):
    decision, arguments = rows(1)
    arguments["limits"] = {key: LIMITS[key] for key in ("demographic_parity", "equalized_odds_sum")}
    found = guarantee_gaps(decision, **arguments, **more)
    checked = verify_guarantee(found.to_dict())
    assert checked.holds, checked.failures


def test_a_series_needs_the_rows():
    decision, arguments = rows(2)
    arguments["limits"] = {key: LIMITS[key] for key in ("demographic_parity", "equalized_odds_sum")}
    shown = guarantee_gaps(decision, **arguments).to_dict()
    hidden = guarantee_gaps(decision, **arguments, attempt=2).to_dict()
    assert hidden["holds"]
    without = verify_guarantee(hidden)
    assert not without.holds
    assert not without.failures
    assert "can be tested again only with the safety rows" in without.undecided[0].detail
    assert verify_guarantee(hidden, counts=shown["counts"]).holds
    tight = {**arguments, "limits": {"demographic_parity": shown["bounds"]["demographic_parity"]}}
    failed = guarantee_gaps(decision, **tight, attempt=1).to_dict()
    assert not failed["holds"]
    # It claims nothing, and nothing needs rows to be shown.
    assert verify_guarantee(failed, counts=shown["counts"]).holds
    assert verify_guarantee(failed).holds
    stripped = shown | {"counts": None}
    assert "only a series of attempts" in verify_guarantee(stripped).failures[0].detail
    assert not verify_guarantee(failed | {"holds": True}, counts=shown["counts"]).holds
    leaking = hidden | {"counts": shown["counts"]}
    assert not verify_guarantee(leaking, counts=shown["counts"]).holds


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("limits", {"demographic_parity": 0.01}),
        ("bounds", {"demographic_parity": 0.01}),
        ("measured", {"demographic_parity": 0.0}),
        ("radius", {"total_variation": 0.5}),
    ],
)
def test_the_top_of_a_series_cannot_promise_more_than_its_claims(name, value):
    decision, arguments = rows(2)
    arguments["limits"] = {"demographic_parity": LIMITS["demographic_parity"]}
    shown = guarantee_gaps(decision, **arguments).to_dict()
    hidden = guarantee_gaps(decision, **arguments, attempt=1).to_dict()
    assert verify_guarantee(hidden, counts=shown["counts"]).holds
    for counts in (None, shown["counts"]):
        forged = verify_guarantee(hidden | {name: value}, counts=counts)
        assert f"Expected {name} " in forged.failures[0].detail


def forged(plain, change, *, only=None):
    """A guarantee after a change, with a summary that fits; ``only`` one of its claims."""
    copied = copy.deepcopy(plain)
    change(copied)
    if only is not None:
        copied["claims"] = copied["claims"][only : only + 1]
    for key in ("limits", "bounds"):
        copied[key] = {c["quantity"]: c[key.removesuffix("s")] for c in copied["claims"]}
    copied["measured"] = {c["quantity"]: c["measured"] for c in copied["claims"]}
    names = copied["claims"][0]["radius"]
    copied["radius"] = {n: min(c["radius"][n] for c in copied["claims"]) for n in names}
    return copied


@pytest.mark.parametrize("position", range(4))
def test_a_better_bound_than_the_counts_prove_is_refused(plain, position):
    def improve(copied):
        claim = copied["claims"][position]
        worse = claim["quantity"] == "impact_ratio"
        claim["bound"] *= 1.02 if worse else 0.98
        claim["parts"] = [part * 0.98 for part in claim["parts"]]

    found = verify_guarantee(forged(plain, improve, only=position))
    assert "Expected a bound that the counts prove" in found.failures[0].detail


@pytest.mark.parametrize("position", range(4))
@pytest.mark.parametrize("name", DIVERGENCES)
def test_a_larger_radius_than_the_counts_prove_is_refused(plain, position, name):
    def improve(copied):
        copied["claims"][position]["radius"][name] = (
            1.05 * copied["claims"][position]["radius"][name] + 1e-4
        )

    found = verify_guarantee(forged(plain, improve, only=position))
    assert "Expected a radius that the counts prove" in found.failures[0].detail


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda p: p["claims"][0].update(measured=0.0), "Expected the counts' value"),
        (lambda p: p["claims"][0].update(holds=False), "Expected holds"),
        (lambda p: p["claims"][0].update(limit=0.001), "Expected a verdict"),
        (lambda p: p["counts"][0].update(positive=10**7), "0 <= positive <= rows"),
        (lambda p: p["counts"][0].update(rows=-1), "0 <= positive <= rows"),
        (lambda p: p["counts"][0].update(rows=10**7), "labels that add up"),
        (lambda p: p["counts"].append(p["counts"][0]), "every cell once"),
        (lambda p: p["counts"].pop(), "everybody, or both labels too"),
        (lambda p: p.update(confidence=1.0), "a confidence"),
        (lambda p: p.update(confidence=math.nan), "a confidence"),
        (lambda p: p.update(version=True), "version 1"),
        (lambda p: p.update(shift=["kl", 0.1]), "a known divergence"),
        (lambda p: p["claims"][0].update(bound=math.nan), "a bound of"),
        (lambda p: p["claims"][0]["radius"].update(hellinger=math.inf), "a radius for each"),
        (lambda p: p["claims"][0].update(quantity="fairness"), "a known quantity"),
        (lambda p: p["claims"][0].update(quantity=["x"]), "a known quantity"),
    ],
)
def test_inconsistent_guarantees_are_refused_without_the_rows(plain, change, message):
    copied = copy.deepcopy(plain)
    change(copied)
    if isinstance(copied["claims"][0]["quantity"], str):
        copied = forged(copied, lambda _: None)
    found = verify_guarantee(copied)
    assert not found.holds
    assert message in found.failures[0].detail


def test_a_more_certain_guarantee_than_was_tested_is_refused(plain):
    found = verify_guarantee(forged(plain | {"confidence": 0.99}, lambda _: None, only=0))
    assert not found.holds


def test_a_consistent_forgery_needs_the_rows():
    decision, arguments = rows(0)
    true = guarantee_gaps(decision, **arguments).to_dict()
    better = guarantee_gaps(np.zeros_like(decision), **arguments).to_dict()
    assert verify_guarantee(better).holds
    found = verify_guarantee(better, counts=true["counts"])
    assert "Expected those of the rows" in found.failures[0].detail


def test_a_summary_that_does_not_follow_is_refused(plain):
    alone = forged(plain, lambda _: None, only=0)
    for key, value in (("bounds", {}), ("holds", False), ("radius", {})):
        found = verify_guarantee(alone | {key: value})
        assert found.failures[0].name == "summary"
    assert not verify_guarantee(plain | {"extra": 1}).holds
    assert not verify_guarantee([]).holds
    assert not verify_guarantee(plain, counts=[{}]).holds


def test_empty_cells_cannot_be_claimed():
    truth = [1, 0] * 25 + [0] * 50
    found = guarantee_gaps(
        [1, 0] * 50,
        sensitive_features=["a"] * 50 + ["b"] * 50,
        y_true=truth,
        limits={"equal_opportunity": 1.0},
    ).to_dict()
    assert verify_guarantee(found).holds
    claim = found["claims"][0]
    for change in (
        {"holds": True},
        {"measured": 0.0},
        {"radius": claim["radius"] | {"hellinger": 0.1}},
    ):
        forged_claim = claim | change
        top = {key: forged_claim[key] for key in ("holds", "radius")}
        top["measured"] = {"equal_opportunity": forged_claim["measured"]}
        assert not verify_guarantee(found | top | {"claims": [forged_claim]}).holds


def test_tails_and_ends_are_rigorous():
    for x, n in ((0, 20), (7, 40), (300, 1000), (20, 20)):
        cell = Binomial(x, n)
        low, high = cell.interval(Fraction(1, 100))
        window = Window(cell, (low, high))
        rates = np.linspace(low, min(high, 0.999), 5)[1:]
        masses, beneath, beyond = window.masses(rates)
        exact = binom.pmf(window.counts[None, :], n, rates[:, None])
        assert (masses >= exact * (1 - 1e-10)).all()
        assert masses == pytest.approx(exact, rel=1e-9, abs=1e-280)
        assert (beneath >= binom.cdf(window.counts[0] - 1, n, rates) * (1 - 1e-9)).all()
        assert (beyond >= binom.sf(window.counts[-1], n, rates) * (1 - 1e-9)).all()
        upper = window.upper_ends(Fraction(1, 40))
        for count, end in zip(window.counts, upper, strict=True):
            assert end == 1.0 or binom.cdf(count, n, end) == pytest.approx(1 / 40, rel=1e-5)
        lower = window.lower_ends(Fraction(1, 40))
        for count, end in zip(window.counts, lower, strict=True):
            assert end == 0.0 or binom.sf(count - 1, n, end) == pytest.approx(1 / 40, rel=1e-5)


@pytest.mark.parametrize("counts", [[(0, 12), (12, 12)], [(1, 1), (0, 1)], [(30, 30), (29, 30)]])
def test_extreme_counts_are_confirmed(counts):
    decision = [d for x, n in counts for d in [1] * x + [0] * (n - x)]
    group = [g for g, (_, n) in zip("ab", counts, strict=True) for _ in range(n)]
    found = guarantee_gaps(
        decision,
        sensitive_features=group,
        limits={"demographic_parity": 0.5, "impact_ratio": 0.5},
        shift=("hellinger", 0.1),
    )
    checked = verify_guarantee(found.to_dict())
    assert checked.holds, checked.failures
    assert found.bounds["demographic_parity"] == bound(
        counts, Contrast(False, DIVERGENCES["hellinger"], 0.1), error=1 - 0.95
    )
    assert found.radius["hellinger"] <= radius(
        counts, Contrast(False, DIVERGENCES["hellinger"]), 0.5, error=1 - 0.95
    )


def test_a_small_file_cannot_ask_for_a_hundred_million_proofs(plain):
    many = copy.deepcopy(plain)
    count = {**many["counts"][0], "label": None, "rows": 4, "positive": 2}
    many["counts"] = [{**count, "group": f"g{k}"} for k in range(9000)]
    found = verify_guarantee(many)
    assert found.failures[0].name == "work"
    assert "Expected at most 1000000 pairs of groups" in found.failures[0].detail


def test_a_claim_that_occurs_twice_is_refused(plain):
    twice = {**plain, "claims": [*plain["claims"], plain["claims"][0]]}
    assert "every claim once" in str(verify_guarantee(twice))


@pytest.mark.parametrize("quantity", ["demographic_parity", "impact_ratio"])
def test_a_limit_that_nothing_can_break_has_every_radius(quantity):
    decisions, groups = np.resize([1, 0, 0, 0], 400), np.repeat(["a", "b"], 200)
    limits = {quantity: 0.0 if quantity == "impact_ratio" else 1.0}
    plain = guarantee_gaps(decisions, sensitive_features=groups, limits=limits).to_dict()
    assert plain["radius"]["hellinger"] == 1.0
    found = verify_guarantee(plain)
    assert found.holds, found.failures


def test_groups_that_are_all_accepted_are_confirmed_without_a_warning():
    groups = np.repeat(["a", "b", "c"], [54, 48, 63])
    limits = {"demographic_parity": 1.0, "impact_ratio": 0.8}
    plain = guarantee_gaps(np.ones(165), sensitive_features=groups, limits=limits).to_dict()
    assert verify_guarantee(plain).holds


def test_what_is_no_number_proves_nothing(plain, monkeypatch):
    def lost(pair, asked, needed, beside, highs):
        return np.full(len(highs), math.nan)

    monkeypatch.setattr("fairsmooth.verify._pairs.Pair._p_values", lost)
    assert not verify_guarantee(plain).holds
