import sys

import numpy as np
import pandas as pd
import pytest

import fairsmooth
from fairsmooth.exceptions import InputError
from fairsmooth.tuning import SearchLimits as Limits
from fairsmooth.tuning import SearchSpace, tune
from fairsmooth.tuning.judged import OBJECTIVES, pareto_front


def run(data, **options):
    return tune(
        data.X, data.y, sensitive_features=data.sensitive_features, **{"n_trials": 6, **options}
    )


def test_pareto_front_against_the_definition():
    random = np.random.default_rng(0)
    table = pd.DataFrame(random.integers(0, 4, (40, 4)) / 4, columns=list(OBJECTIVES))
    costs = table.to_numpy() * [-1, 1, 1, 1]
    expected = [
        not any((other <= mine).all() and (other < mine).any() for other in costs) for mine in costs
    ]
    assert pareto_front(table).tolist() == expected


def test_choice_is_the_most_accurate_feasible_one():
    table = pd.DataFrame(
        {
            "accuracy": [0.9, 0.8, 0.8, 0.7],
            "demographic_parity": [0.3, 0.1, 0.05, 0.01],
            "equalized_odds_sum": [0.1] * 4,
            "epsilon": [0.1] * 4,
        }
    )
    assert choose(table, Limits()) == (0, True)
    assert choose(table, Limits(max_dp=0.1)) == (2, True)  # as accurate as 1, and it beats it
    assert choose(table, Limits(max_dp=0.02)) == (3, True)
    assert choose(table, Limits(max_epsilon=0.01, max_dp=0.02)) == (3, False)


def test_limits_are_kept_on_held_out_rows(biased):
    tuned = run(biased, limits=Limits(max_epsilon=0.05), n_trials=8)
    assert tuned.feasible
    assert tuned.measured["epsilon"] <= 0.05
    assert tuned.trials["chosen"].sum() == 1
    assert tuned.classifier.get_params()["alpha"] == tuned.parameters["alpha"]
    assert tuned.classifier.predict(biased.X).shape == (len(biased.y),)


def test_same_seed_same_trials(biased):
    first, second = run(biased), run(biased)
    assert first.parameters == second.parameters
    assert first.trials["accuracy"].tolist() == second.trials["accuracy"].tolist()


def test_an_interrupted_search_goes_on(biased, tmp_path):
    class Stop(Exception):
        pass

    def stop(finished):
        if finished == 3:
            raise Stop

    with pytest.raises(Stop):
        run(biased, storage=tmp_path / "journal", callback=stop)
    seen = []
    tuned = run(biased, storage=tmp_path / "journal", callback=seen.append)
    assert seen == [4, 5, 6]
    assert len(tuned.trials) <= 6


def test_processes_share_the_trials(biased):
    tuned = run(biased, n_jobs=2, n_trials=4)
    assert len(tuned.trials) >= 1


def test_architectures_and_links_can_be_searched(biased):
    space = SearchSpace(link=("probit", "logistic"), parity=(None,))
    tuned = run(biased, space=space)
    assert tuned.parameters["link"] in ("probit", "logistic")
    assert tuned.parameters["parity"] is None


def test_refuses_what_cannot_be_searched(biased, monkeypatch):
    with pytest.raises(InputError, match="Expected n_trials > 0"):
        run(biased, n_trials=0)
    with pytest.raises(InputError, match="Expected validation_size between"):
        run(biased, validation_size=0.99)
    rare = np.asarray(biased.sensitive_features).astype(object).copy()
    rare[:2] = "rare"
    with pytest.raises(InputError, match="at least 4 rows of every label in every group"):
        tune(biased.X, biased.y, sensitive_features=rare, n_trials=1)
    monkeypatch.setitem(sys.modules, "optuna", None)
    with pytest.raises(InputError, match=r"pip install 'fairsmooth\[tune\]'"):
        run(biased)


def test_what_the_limits_allow_may_be_left_alone(biased):
    space = SearchSpace(parity=("both",))
    tuned = run(biased, space=space, limits=Limits(max_dp=0.1, max_eo=0.2))
    dp, eo = tuned.parameters["parity_tolerance"]
    assert 0.0 <= dp <= 0.1
    assert 0.0 <= eo <= 0.2
    assert run(biased, space=space).parameters["parity_tolerance"] == (0.0, 0.0)


def test_the_library_offers_it_by_its_first_name():
    assert fairsmooth.tune is tune
    with pytest.raises(AttributeError, match="has no attribute 'tunes'"):
        _ = fairsmooth.tunes
