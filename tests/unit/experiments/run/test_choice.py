"""Which candidate a fit is given, and what happens while that is open."""

from dataclasses import replace

import pytest

from fairsmooth.experiments import Store
from fairsmooth.experiments.run.choice import fairest_accurate, resolved
from fairsmooth.experiments.run.job import Job

JOB = Job("fit", "compas-sex", "aif360", 0, "unconstrained")
CANDIDATES = tuple(
    replace(JOB, kind="candidate", parameters=(("C", value),)) for value in (1.0, 0.1)
)


def candidate(accuracy, gap):
    return {
        "status": "done",
        "measured": {
            "accuracy": accuracy,
            "demographic_parity": gap,
            "equalized_odds_sum": gap,
        },
    }


def test_the_fairest_of_the_accurate_is_chosen():
    tried = [
        candidate(0.85, 0.2),
        candidate(0.835, 0.1),
        candidate(0.76, 0.0),
        {"status": "failed", "reason": "no"},
        candidate(0.85, float("nan")),
        candidate(0.85, None),
    ]
    assert fairest_accurate(tried) == 1


def test_where_every_candidate_failed_none_is_chosen():
    assert fairest_accurate([{"status": "failed", "reason": "no"}]) is None


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path)


def keep(store, job, record):
    store.append({"key": job.key, "job": job.told, **record})


def test_a_fit_waits_until_every_candidate_has_run(store):
    assert resolved(JOB, (), store) == JOB
    keep(store, CANDIDATES[0], candidate(0.8, 0.2))
    assert resolved(JOB, CANDIDATES, store) is None
    keep(store, CANDIDATES[1], candidate(0.8, 0.1))
    assert resolved(JOB, CANDIDATES, store) == replace(JOB, parameters=(("C", 0.1),))
    # The same answer from the file.
    again = Store(store.path.parent)
    assert resolved(JOB, CANDIDATES, again) == resolved(JOB, CANDIDATES, store)


def test_why_nothing_could_be_chosen_is_told(store):
    for each in CANDIDATES:
        keep(store, each, {"status": "failed", "reason": "no"})
    assert resolved(JOB, CANDIDATES, store) == "every candidate failed: no"
