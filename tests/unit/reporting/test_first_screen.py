import numpy as np
import pytest

from fairsmooth import certify, guarantee_gaps
from fairsmooth.metrics import audit
from fairsmooth.reporting.first_screen import FirstScreen
from fairsmooth.reporting.picture import Picture
from fairsmooth.reporting.selection import Selection
from fairsmooth.reporting.subject import Subject
from fairsmooth.reporting.wording import SIGN, group_names


def _decided(rates, n=2000):
    """Rows with exactly these selection rates."""
    decided = np.concatenate([np.arange(n) < round(rate * n) for rate in rates.values()])
    return decided.astype(int), np.repeat(list(rates), n)


def _screen(rates, limits=None, certificate=None):
    decided, groups = _decided(rates)
    found = audit(y_pred=decided, sensitive_features=groups)
    proved = None
    if limits is not None:
        proved = guarantee_gaps(decided, sensitive_features=groups, limits=limits)
    selection = Selection.of_audit(found)
    return selection, FirstScreen.of(selection, certificate, proved, Subject())


def _plain(lines):
    return " ".join(lines).replace(SIGN, " %")


def test_the_six_questions_are_answered():
    certificate = certify([[0.0], [0.1]], sigma=1.0, groups=["men", "women"])
    limits = {"demographic_parity": 0.25, "impact_ratio": 0.1}
    _, screen = _screen({"men": 0.243, "women": 0.075}, limits, certificate)
    who = _plain(screen.selected)
    assert "7.5 % of women are selected (95 % interval: 6.3 to 8.8 %)" in who
    assert "Of men it is 24.3 % (22.4 to 26.3 %)" in who
    assert "furthest pair, women and men, is 16.8 percentage points apart (14." in who
    assert "women are selected 0.31 times as often as men" in who
    assert "is broken on these rows." in who
    sure = _plain(screen.guaranteed)
    assert "With 95 % confidence, selection rates of any two groups differ by at most 0.18" in sure
    assert "(limit: at most 0.25, kept)" in sure
    assert "no group's selection rate is below 0.2" in sure
    assert "the score is within 0.0200 of the score" in sure
    assert "does not say that groups are treated alike" in _plain(screen.open)
    assert "change by more than 0.0" in screen.until
    assert "`fairsmooth monitor`" in screen.until
    assert "Not verified on this page" in screen.checked


def test_a_limit_that_is_not_kept_is_said_loudly():
    _, screen = _screen({"a": 0.5, "b": 0.1}, {"demographic_parity": 0.2})
    assert "NOT guaranteed" in _plain(screen.guaranteed)
    assert "limits are not guaranteed" in _plain(screen.open)
    assert "fairsmooth monitor" not in screen.until


def test_one_limit_of_two_that_is_not_proved_leaves_the_other():
    limits = {"demographic_parity": 0.45, "impact_ratio": 0.8}
    _, screen = _screen({"a": 0.5, "b": 0.1}, limits)
    assert "on these safety rows that on impact ratio was not proved" in _plain(screen.open)
    assert "The limits are not guaranteed" not in _plain(screen.open)
    # The bound on the gap is proved, and so more than a measurement.
    assert screen.until.startswith("Bounds hold where they say so")


@pytest.mark.parametrize(("low", "shown"), [(0.3985, "0.797"), (0.39995, "0.7999"), (0.4, "0.80")])
def test_a_ratio_is_not_rounded_onto_the_other_side_of_four_fifths(low, shown):
    decided, groups = _decided({"a": low, "b": 0.5}, n=20_000)
    selection = Selection.of_audit(audit(y_pred=decided, sensitive_features=groups))
    who = _plain(FirstScreen.of(selection, None, None, Subject()).selected)
    assert f"a are selected {shown} times as often as b" in who
    assert f"is {'kept' if low == 0.4 else 'broken'} on these rows" in who


def test_nobody_selected_is_not_as_often_as_others():
    _, screen = _screen({"a": 0.0, "b": 0.0})
    who = _plain(screen.selected)
    assert "Nobody is selected in any group; the impact ratio, 0 by 0, counts as 1." in who
    assert "as often as" not in who


def test_one_group_beside_another_model_has_no_gap_of_nan():
    random = np.random.default_rng(0)
    given = {"y_true": random.integers(0, 2, 60), "sensitive_features": ["a"] * 60}
    found = audit(y_pred=random.integers(0, 2, 60), **given)
    other = audit(y_pred=given["y_true"], **given)
    selection = Selection.of_audit(found, {"plain": other})
    screen = FirstScreen.of(selection, None, None, Subject())
    assert _plain(screen.beside[:1]) == "Plain on the same rows: accuracy 100.0 %."


@pytest.mark.parametrize(
    ("absent", "told"), [(("b",), "of b:"), (("b", "c"), "of b and c:"), ("bcdefg", "of 6 groups:")]
)
def test_groups_that_no_row_has_are_told(absent, told):
    counts = [("a", 10, 3), *((name, 0, 0) for name in absent)]
    selection = Selection.of_counts(counts, confidence=0.95)
    who = _plain(FirstScreen.of(selection, None, None, Subject()).selected)
    assert f"Nothing was measured {told} there are no rows of theirs here." in who


def test_weights_are_told_with_the_rates():
    decided, groups = _decided({"a": 0.5, "b": 0.1}, n=100)
    weights = np.linspace(0.5, 1.5, 200)
    found = audit(y_pred=decided, sensitive_features=groups, sample_weight=weights)
    screen = FirstScreen.of(Selection.of_audit(found), None, None, Subject())
    assert screen.selected[-1] == "Every row counts by its weight; the intervals are approximate."
    _, screen = _screen({"a": 0.5, "b": 0.1})
    assert "weight" not in _plain(screen.selected)


def test_a_label_without_rows_is_not_called_a_group_without():
    proved = guarantee_gaps(
        [1, 0, 1, 0], sensitive_features=["a", "a", "b", "b"], y_true=[1, 0, 0, 0],
        limits={"equal_opportunity": 0.5, "demographic_parity": 0.5},
    )  # fmt: skip
    words = _plain(FirstScreen.of(None, None, proved, Subject()).guaranteed)
    assert "nothing is known: a group has no rows with a positive label (limit" in words
    assert "(a group has no rows with a positive label here, so nothing" in str(proved)


def test_what_the_sample_cannot_tell_is_said():
    _, screen = _screen({"a": 0.1, "b": 0.081})
    assert "is kept on these rows; they cannot tell" in _plain(screen.selected)


def test_others_lie_between():
    selection, screen = _screen({"a": 0.1, "b": 0.3, "c": 0.2, "d": 0.15})
    assert [group.name for group in selection.groups] == ["a", "d", "c", "b"]
    assert "The 2 other groups lie between." in _plain(screen.selected)
    _, screen = _screen({"a": 0.1, "b": 0.3, "c": 0.2})
    assert "One group lies between." in _plain(screen.selected)


@pytest.mark.parametrize("n_groups", [2, 10, 11, 30])
def test_the_picture_shows_every_group_once(n_groups):
    rates = {f"g{i}": 0.01 * (i + 1) for i in range(n_groups)}
    selection, _ = _screen(rates)
    drawn = Picture.of(selection)
    rows = [*drawn.rows, *drawn.folded, *drawn.last]
    assert [row.name for row in rows] == list(rates)
    assert bool(drawn.folded) == (n_groups > 10)
    for row in rows:
        assert 0.0 <= row.left <= row.place <= row.left + row.width <= 100.0
    frame = selection.highest.rate / (rows[-1].place / 100.0)
    assert drawn.limit == pytest.approx(80.0 * selection.highest.rate / frame, rel=1e-3)
    for name in rates:
        assert name in drawn.alt


def test_nobody_selected_and_groups_without_rows():
    counts = [("a", 50, 0), ("b", 40, 0), ("c", 0, 0)]
    selection = Selection.of_counts(counts, confidence=0.95)
    assert selection.absent == ("c",)
    assert selection.ratio.value == 1.0
    assert Picture.of(selection).limit is None
    assert Selection.of_counts([("a", 0, 0)], confidence=0.95) is None


def test_names_never_fall_together():
    assert group_names([("a", "b · c"), ("a · b", "c")]) == {
        ("a", "b · c"): "a|b · c", ("a · b", "c"): "a · b|c"
    }  # fmt: skip
    assert group_names(["", "x"])[""] == "(empty)"
