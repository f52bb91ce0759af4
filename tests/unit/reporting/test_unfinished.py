"""What has not run yet is said in one line."""

from dataclasses import replace

from fairsmooth.experiments import Selection, Store, experiment, jobs_of, profile
from fairsmooth.reporting.unfinished import unfinished

TABLE, CEILINGS = experiment("table2"), experiment("ceilings")
ONE = Selection(methods=("fairsmooth",), only=("compas",))
SMOKE = profile("smoke")


def finish(store, job):
    measured = {"accuracy": 0.8, "demographic_parity": 0.1, "equalized_odds_sum": 0.1}
    store.append({"key": job.key, "status": "done", "measured": measured})


def test_what_has_not_run_is_counted_and_what_has_is_not_mentioned(tmp_path):
    store = Store(tmp_path)
    jobs = jobs_of([TABLE], SMOKE, ONE)
    assert len(jobs) == 2
    assert unfinished([TABLE], SMOKE, store, ONE) == ["Table 2: 0 of 2 fits have run"]
    finish(store, jobs[0])
    assert unfinished([TABLE, CEILINGS], SMOKE, store, ONE) == [
        "Table 2: 1 of 2 fits have run",
        "ceilings: 0 of 4 jobs have run",
    ]
    finish(store, jobs[1])
    assert unfinished([TABLE], SMOKE, store, ONE) == []


def test_a_fit_waits_for_its_candidates(tmp_path):
    store, two = Store(tmp_path), replace(SMOKE, n_candidates=2)
    for job in jobs_of([TABLE], two, ONE):
        if job.kind == "candidate":
            finish(store, job)
    assert unfinished([TABLE], two, store, ONE) == ["Table 2: 0 of 2 fits have run"]
    for job in jobs_of([TABLE], two, ONE, store=store):
        if job.kind == "fit":
            finish(store, job)
    assert unfinished([TABLE], two, store, ONE) == []
