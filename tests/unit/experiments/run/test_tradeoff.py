import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from fairsmooth.experiments import Selection, Store, experiment, profile, rows_of, run_experiments
from fairsmooth.experiments.beyond.tradeoff import CEILING, OURS, REDUCTION, sighted
from fairsmooth.experiments.run import tradeoff_candidates
from fairsmooth.experiments.run.tradeoff import beside, entries
from fairsmooth.experiments.run.tradeoff_candidates import (
    AIMS,
    BOUNDS,
    CONSTRAINTS,
    entrants,
)
from fairsmooth.tuning import SearchLimits

LIMITS = SearchLimits(0.05, 0.1)


def test_our_candidates_aim_at_shares_of_the_limits():
    (ours,) = (each for each in entrants(told=False) if each.name == OURS)
    aims = [each.fit.args[0] for each in ours.candidates("compas", LIMITS, False)]
    assert aims == [(dp * 0.05, eo * 0.1) for dp, eo in AIMS["compas"][False]]


def test_every_bound_of_the_reductions_is_shown_for_both_sights():
    shown = list(entries("adult", LIMITS, quick=False))
    for told in (False, True):
        own = [place for place in shown if place[0] == sighted(REDUCTION, told=told)]
        swept = [(axis, value) for _, axis, value in own[1:]]
        assert own[0][1:] == ("", None)
        assert swept == [(axis, bound) for axis in CONSTRAINTS for bound in BOUNDS["adult"]]


def test_told_columns_hold_both_kinds_of_forecasts():
    told = pd.DataFrame({"P(Y=1)": [0.1], "P(A=a, Y=0)": [0.2]})
    blind = pd.DataFrame({"P(Y=1)": [0.3], "P(A=a, Y=0)": [0.4]})
    joined = beside(told, blind)
    assert list(joined.columns) == ["P(Y=1)", "P(A=a, Y=0)", "blind P(A=a, Y=0)"]
    assert joined.to_numpy().tolist() == [[0.1, 0.2, 0.4]]


@pytest.fixture(scope="module")
def rows(tmp_path_factory):
    """One small split with fairlearn missing."""
    store, only = Store(tmp_path_factory.mktemp("store")), Selection(only=("compas-sex",))
    budget = replace(profile("smoke"), max_rows=300)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("builtins.__import__", guarded())
        run_experiments([experiment("tradeoff")], budget, store, selection=only)
    return rows_of(experiment("tradeoff"), budget, store, only), store


def guarded():
    real = __import__

    def importing(name, *rest, **options):
        if name.startswith("fairlearn."):
            raise ImportError(name)
        return real(name, *rest, **options)

    return importing


def test_every_entrant_leaves_a_row_or_a_reason(rows):
    table, _ = rows
    chosen = table[table["axis"] == ""].set_index("method")
    wanted = {
        sighted(each.name, told=told) for told in (False, True) for each in entrants(told=told)
    }
    assert set(chosen.index) == wanted | {sighted(CEILING, told=told) for told in (False, True)}
    failed = chosen[chosen["status"] == "failed"]
    assert set(failed.index) == {name for name in wanted if name[:5] in {"Expon", "Thres"}}
    assert failed["reason"].str.contains("Expected fairlearn to be installed").all()


def test_what_is_done_has_figures(rows):
    table, store = rows
    done = table[(table["status"] == "done") & (table["axis"] == "")].set_index("method")
    assert done["accuracy"].between(0.3, 1.0).all()
    assert done.loc[CEILING, "accuracy"] <= done.loc[sighted(CEILING, told=True), "accuracy"]
    assert done.loc[OURS, ["epsilon", "free_distance", "free_epsilon"]].gt(0.0).all()
    # Means of these are rounded where they are shown, so they are kept with all their digits.
    record = json.loads(store.path.read_text().splitlines()[0])
    accuracy = next(each for each in record["points"] if each["method"] == OURS)["accuracy"]
    assert accuracy == pytest.approx(np.round(accuracy * 90) / 90, abs=1e-11)


def test_the_chosen_candidate_is_one_of_those_swept(rows):
    table, _ = rows
    for told in (False, True):
        own = table[table["method"].isin([OURS, sighted(OURS, told=told)])]
        (row,) = own[(own["axis"] == "") & (own["method"] == sighted(OURS, told=told))].to_dict(
            "records"
        )
        swept = own[own["axis"] != ""]
        same = swept[swept["inner_accuracy"] == row["inner_accuracy"]]
        assert row["accuracy"] in set(same["accuracy"])


def test_fairlearn_is_what_it_is_when_installed():
    assert tradeoff_candidates._fairlearn("reductions").ExponentiatedGradient
