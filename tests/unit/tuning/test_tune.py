import sys

import numpy as np
import pandas as pd
import pytest

import fairsmooth
from fairsmooth.data.groups import Groups
from fairsmooth.datasets import make_biased
from fairsmooth.exceptions import InputError
from fairsmooth.metrics.rates import measure
from fairsmooth.tuning import ParetoFront, SearchLimits, SearchSpace, rerun, tune
from fairsmooth.tuning import peers as peers_module
from fairsmooth.tuning.folds import Folds
from fairsmooth.tuning.judged import OBJECTIVES, FoldCounts, Judged
from fairsmooth.tuning.limits import Aim
from fairsmooth.tuning.outcome import choose
from fairsmooth.tuning.sampling import Plan
from fairsmooth.tuning.search import array_rows
from fairsmooth.tuning.work import run_trial


def run(data, **options):
    options = {"n_trials": 4, "n_folds": 2, **options}
    return tune(data.X, data.y, sensitive_features=data.sensitive_features, **options)


def test_choice_is_the_most_accurate_that_keeps_the_aim():
    table = pd.DataFrame(
        {
            "accuracy": [0.9, 0.8, 0.8, 0.7],
            "demographic_parity": [0.3, 0.1, 0.05, 0.01],
            "equalized_odds_sum": [0.1] * 4,
            "epsilon": [0.1] * 4,
            "chance": [None] * 4,
        }
    )

    def chosen(**limits):
        plan = Plan(SearchLimits(**limits), Aim(1.0), SearchSpace(), 2, 0)
        kept = [plan.aim.kept(plan.limits, row, None) for _, row in table.iterrows()]
        return choose(table.assign(feasible=kept), plan)

    assert chosen() == (0, True)
    assert chosen(max_dp=0.1) == (2, True)  # as accurate as 1, and it beats it
    assert chosen(max_dp=0.02) == (3, True)
    assert chosen(max_epsilon=0.01, max_dp=0.02) == (3, False)


@pytest.fixture(scope="module")
def tuned(biased):
    return run(biased, limits=SearchLimits(max_dp=0.1, max_eo=0.2, max_epsilon=0.05), n_trials=8)


def test_the_outcome_has_the_model_the_front_and_the_record(biased, tuned):
    assert tuned.trials["chosen"].sum() == 1
    assert tuned.classifier.get_params()["alpha"] == tuned.parameters["alpha"]
    assert tuned.classifier.predict(biased.X).shape == (len(biased.y),)
    assert isinstance(tuned.front, ParetoFront)
    assert tuned.front.chosen.measured == tuned.measured
    assert tuned.front.n_rows == len(biased.y)
    assert tuned.feasible == (
        tuned.measured["demographic_parity"] <= 0.09
        and tuned.measured["equalized_odds_sum"] <= 0.18
        and tuned.measured["epsilon"] <= 0.05
    )
    assert len(tuned.alternatives.trials) == len(tuned.trials) == 8
    assert "Trial" in tuned.alternatives.to_markdown()


def test_intervals_of_the_chosen_allow_for_having_been_picked(tuned):
    alone = tuned.front.chosen.intervals
    assert set(alone) == set(tuned.intervals)
    for name, (low, high) in tuned.intervals.items():
        assert low <= alone[name][0] <= tuned.measured[name] <= alone[name][1] <= high
        assert (low, high) != alone[name]


def test_the_first_trial_is_the_baseline_and_anchors_follow(tuned):
    first, second = tuned.trials["parameters"].iloc[:2]
    assert first["parity"] is None
    assert (
        tuned.front.trials[[p.baseline for p in tuned.front.trials].index(True)].name == "trial 0"
    )
    assert second["parity_solver"] == "decisions"
    assert second["parity_tolerance"] == pytest.approx((0.1, 0.2))


def test_a_trial_run_again_gives_the_same_numbers(biased, tuned):
    rows = array_rows(biased.X, biased.y, biased.sensitive_features)
    for number in (0, 2):
        again = rerun(rows, tuned, number)
        before = tuned.alternatives.trials[number]
        seen = [fold.to_dict() for fold in again.folds][: before["folds"]]
        assert seen == before["counts"]
        assert again.seed == before["seed"]
    with pytest.raises(InputError, match="Expected the number of a trial, 0 to 7, got 99"):
        rerun(rows, tuned, 99)


def test_a_trial_that_cannot_be_trained_ends_with_the_reason(small):
    space = SearchSpace(parity=(None,), sigma=(0.5, 0.5), link=("probit", "loglog"))
    found = run(small, space=space, n_trials=6)
    stopped = found.trials[~found.trials["finished"]]
    assert len(stopped)
    assert stopped["stopped"].str.contains("cannot be trained: Expected link").all()
    assert found.parameters["link"] == "probit"
    with pytest.raises(InputError, match=r"at least one trial that can be trained.*loglog"):
        run(small, space=SearchSpace(parity=(None,), link=("loglog",)), n_trials=1)


def test_a_bad_setting_costs_one_fold(small):
    rows = array_rows(small.X, small.y, small.sensitive_features)
    folds, usual = Folds(rows, 3, 0).encoded("given"), {"number": 1, "point": {}, "seed": 0}
    stopped = run_trial(folds, {}, **usual, stop=lambda judged: f"{len(judged.folds)} is enough")
    assert (len(stopped.folds), stopped.stopped, stopped.finished) == (1, "1 is enough", False)
    whole = run_trial(folds, {}, **usual)
    assert (len(whole.folds), whole.stopped, whole.finished) == (3, None, True)
    assert whole.folds[0].to_dict() == stopped.folds[0].to_dict()
    assert whole.judged.rows.sum() == len(small.y)


def test_architectures_and_links_can_be_searched(small):
    space = SearchSpace(link=("probit", "logistic"), parity=(None,))
    found = run(small, space=space)
    assert found.parameters["link"] in ("probit", "logistic")
    assert found.parameters["parity"] is None


def test_refuses_what_cannot_be_searched(biased, monkeypatch):
    with pytest.raises(InputError, match="Expected n_trials > 0"):
        run(biased, n_trials=0)
    with pytest.raises(InputError, match="Expected validation_size between"):
        run(biased, validation_size=0.99)
    with pytest.raises(InputError, match="Expected n_folds between"):
        run(biased, n_folds=1)
    with pytest.raises(InputError, match=r"Expected columns from \['given'\]"):
        run(biased, space=SearchSpace(columns=("other",)))
    rare = np.asarray(biased.sensitive_features).astype(object).copy()
    rare[:2] = "rare"
    with pytest.raises(InputError, match="at least 4 rows of every label in every group"):
        tune(biased.X, biased.y, sensitive_features=rare, n_trials=1)
    monkeypatch.setitem(sys.modules, "fairlearn", None)
    with pytest.raises(InputError, match=r"pip install 'fairsmooth\[compare\]'"):
        run(biased, with_peers=True)
    monkeypatch.setitem(sys.modules, "optuna", None)
    with pytest.raises(InputError, match=r"pip install 'fairsmooth\[tune\]'"):
        run(biased)


def test_a_share_of_rows_stands_for_folds(small, plain_space):
    found = run(small, space=plain_space, n_trials=1, n_folds=3)
    again = tune(small.X, small.y, sensitive_features=small.sensitive_features, n_trials=1,
                 space=plain_space, validation_size=1 / 3)  # fmt: skip
    assert found.measured == again.measured
    assert again.front.n_folds == 3


def test_what_the_limits_allow_may_be_left_alone(small):
    space = SearchSpace(parity=("both",), parity_solver=("surrogate",))
    limits = SearchLimits(max_dp=0.1, max_eo=0.2)
    dp, eo = run(small, space=space, limits=limits, n_trials=1).parameters["parity_tolerance"]
    assert 0.0 <= dp <= 0.1
    assert 0.0 <= eo <= 0.2
    free = run(small, space=space, n_trials=1).parameters
    assert free["parity_tolerance"] == (0.0, 0.0)


def test_peers_are_judged_on_the_same_folds(small, plain_space, monkeypatch):
    monkeypatch.setattr(peers_module, "_SHARES", (0.5,))
    told = []
    found = run(small, space=plain_space, n_trials=1, with_peers=lambda *done: told.append(done))
    assert [p.name for p in found.front.peers] == [
        "fairlearn, demographic parity within 0.05",
        "fairlearn, equalized odds within 0.05",
    ]
    assert told == [(1, 4), (2, 4), (3, 4), (4, 4)]
    assert all("epsilon" not in p.measured for p in found.front.peers)
    assert found.front.peers[0].measured["accuracy"] > 0.5


def test_every_objective_is_measured(tuned):
    assert set(OBJECTIVES) <= set(tuned.trials.columns)
    assert set(tuned.measured) == set(OBJECTIVES)


def test_the_library_offers_it_by_its_first_name():
    assert fairsmooth.tune is tune
    with pytest.raises(AttributeError, match="has no attribute 'tunes'"):
        _ = fairsmooth.tunes


def test_intervals_of_the_search_cover_what_fresh_rows_say(plain_space):
    # 7,400 fresh rows stand for the population; a hold-out of a third tells less than all folds.
    covered, pooled, alone = [], [], []
    for seed in range(5):
        data = make_biased(n_samples=8000, n_features=2, n_groups=2, random_state=seed)
        mixed = np.random.default_rng(seed).permutation(8000)
        X, y = data.X.to_numpy()[mixed], np.asarray(data.y)[mixed]
        codes = data.groups.codes[mixed]
        found = tune(X[:600], y[:600], sensitive_features=codes[:600], space=plain_space,
                     n_trials=2, n_folds=3, random_state=seed)  # fmt: skip
        fresh = Groups(data.groups.labels, codes[600:])
        truth = measure(found.classifier.predict(X[600:]), y[600:], fresh)
        first = found.alternatives.trials[int(found.trials["chosen"].to_numpy().argmax())]
        one = Judged((FoldCounts.from_dict(first["counts"][0]),)).intervals()
        for name, (low, high) in found.intervals.items():
            covered.append(low <= truth[name] <= high)
            pooled.append(high - low)
            alone.append(one[name][1] - one[name][0])
    assert np.mean(covered) >= 0.9
    assert np.mean(pooled) < np.mean(alone)
