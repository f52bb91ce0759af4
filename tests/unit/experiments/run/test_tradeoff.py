import json
from dataclasses import replace

import pytest

from fairsmooth.experiments import Selection, Store, experiment, profile, rows_of, run_experiments
from fairsmooth.experiments.run import tradeoff_candidates
from fairsmooth.experiments.run.tradeoff import CEILINGS, ENTRANTS
from fairsmooth.experiments.run.tradeoff_candidates import ALPHAS, PARITY, SIGMAS, candidates_of
from fairsmooth.tuning import Limits

LIMITS = Limits(0.05, 0.1, 0.01)


def test_candidates_are_the_papers_grid_and_what_the_parity_term_may_aim_at():
    paper = candidates_of("FairSmooth (paper)", "adult", LIMITS, quick=False)
    assert len(paper) == len(SIGMAS) * len(ALPHAS)
    parity = candidates_of(PARITY, "compas", LIMITS, quick=False)
    assert len(parity) == 18
    tolerances = {each.fit.args[0]["parity_tolerance"] for each in parity}
    assert tolerances == {(0.025, 0.04000000000000001), (0.0, 0.0)}
    assert len(candidates_of(PARITY, "compas", LIMITS, quick=True)) == 4


def test_every_entrant_leaves_a_row_or_a_reason(tmp_path, monkeypatch):
    def missing(module):
        raise ImportError(module)

    monkeypatch.setattr("builtins.__import__", guarded(missing))
    store, only = Store(tmp_path), Selection(only=("compas-sex",))
    budget = replace(profile("smoke"), max_rows=300)
    run_experiments([experiment("tradeoff")], budget, store, selection=only)
    rows = rows_of(experiment("tradeoff"), budget, store, only).set_index("method")
    assert set(rows.index) == set(ENTRANTS)
    failed = rows[rows["status"] == "failed"]
    assert set(failed.index) == {name for name in ENTRANTS if name[:5] in {"Expon", "Thres"}}
    assert failed["reason"].str.contains("Expected fairlearn to be installed").all()
    done = rows[rows["status"] == "done"]
    assert done["accuracy"].between(0.3, 1.0).all()
    blind, seeing = (done.loc[name, "accuracy"] for name in CEILINGS)
    assert blind <= seeing
    assert done.loc[PARITY, "epsilon"] > 0
    # Means of these are rounded where they are shown, so they are kept with all their digits.
    record = json.loads(store.path.read_text().splitlines()[0])
    assert record["measured"]["accuracy"] == pytest.approx(
        round(record["measured"]["accuracy"] * 90) / 90, abs=1e-11
    )


def guarded(missing):
    real = __import__

    def importing(name, *rest, **options):
        return missing(name) if name.startswith("fairlearn.") else real(name, *rest, **options)

    return importing


def test_fairlearn_is_what_it_is_when_installed():
    assert tradeoff_candidates._fairlearn("reductions").ExponentiatedGradient
