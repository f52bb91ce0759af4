"""Records know by which code they were made; a docstring is no code."""

import json
import sys
from dataclasses import replace

import pytest

from fairsmooth.baselines import method
from fairsmooth.experiments import Selection, Store, experiments, profile, run_experiments
from fairsmooth.experiments.run import code_digest as digests
from fairsmooth.experiments.run import runner
from fairsmooth.experiments.run import work as work_module
from fairsmooth.experiments.run.code_digest import code_digest, essence, modules_of
from fairsmooth.experiments.run.job import Job, key_of
from fairsmooth.experiments.run.stale import is_stale, known_methods, stale_jobs
from fairsmooth.experiments.run.work import DONE, work

JOB = Job("fit", "compas-sex", "aif360", 0, "unconstrained")
TABLE = next(each for each in experiments() if each.name == "table1")
TINY = replace(profile("smoke"), max_rows=400)
SELECTION = Selection(("unconstrained",), ("compas-sex", "aif360"))


def test_what_only_people_read_is_no_code():
    plain = "def f():\n    return 1\n"
    told = '"""Module."""\n\n# why\ndef f():\n    """Function."""\n\n    return 1\n'
    assert essence(told) == essence(plain)
    assert essence("x = '''a\n# b'''\n") != essence("x = '''a\n# c'''\ny = 1\n")
    assert essence(plain) != essence(plain.replace("1", "2"))


@pytest.mark.parametrize("name", ["dlr", "unconstrained", "fairsmooth"])
def test_the_modules_are_those_that_a_job_runs_through(name):
    begins = ("fairsmooth.experiments.run.fit", method(name).estimator.module)
    found = set(modules_of(begins))
    assert {"fairsmooth.experiments.run.data", "fairsmooth.metrics.rates"} <= found
    assert ("fairsmooth.core.smoothing.linear" in found) == (name == "fairsmooth")
    # What judges results does not make them.
    assert not any(module.startswith("fairsmooth.experiments.claims") for module in found)


def test_the_digest_changes_with_code_settings_and_libraries(monkeypatch):
    def fresh(job=JOB, entrant=None):
        digests._digest.cache_clear()
        return code_digest(job, entrant or method(job.contender))

    before = fresh()
    assert fresh() == before
    assert fresh(replace(JOB, encoding="binned")) == before
    assert fresh(replace(JOB, contender="arl")) != before
    assert fresh(entrant=replace(method("unconstrained"), fixed={"tol": 1.0})) != before
    # Which candidates there are does not change what one of them does.
    assert fresh(entrant=replace(method("unconstrained"), grid=({"C": 3.0},))) == before
    with monkeypatch.context() as patched:
        patched.setattr(digests, "version", lambda name: "0")
        assert fresh() != before
    with monkeypatch.context() as patched:
        patched.setattr(digests, "_code", lambda name: "changed")
        assert fresh() != before
    digests._digest.cache_clear()


@pytest.fixture
def store(tmp_path):
    store = Store(tmp_path)
    run_experiments([TABLE], TINY, store, selection=SELECTION)
    return store


def test_records_of_other_code_are_marked_run_again_and_kept(store, monkeypatch):
    (job,) = runner.jobs_of([TABLE], TINY, SELECTION)
    assert not is_stale(job, store, known_methods())
    monkeypatch.setattr(digests, "_code", lambda name: "changed")
    digests._digest.cache_clear()
    assert stale_jobs([job], store) == [job]
    states = []
    run_experiments([TABLE], TINY, store, selection=SELECTION, report=states.append)
    assert [state.done for state in states] == [0, 1]
    assert not stale_jobs([job], store)
    lines = store.path.read_text().splitlines()
    assert len(lines) == 2
    first, second = map(json.loads, lines)
    assert first["code"] != second["code"]
    assert first["measured"] == second["measured"]
    assert Store(store.path.parent)[job.key]["code"] == second["code"]
    monkeypatch.undo()
    digests._digest.cache_clear()


def test_a_record_without_a_digest_is_stale_and_found_under_its_job(store):
    record = json.loads(store.path.read_text())
    (job,) = runner.jobs_of([TABLE], TINY, SELECTION)
    del record["code"]
    store.path.write_text(json.dumps({**record, "key": "made otherwise"}) + "\n")
    again = Store(store.path.parent)
    assert job.key in again
    assert is_stale(job, again, known_methods())


def test_a_field_that_is_left_out_leaves_the_key():
    told = {"kind": "fit", "case": "adult-sex", "encoding": "binned"}
    assert key_of(told) == Job(**told).key
    assert key_of({**told, "quick": True}) != Job(**told).key
    assert key_of({**told, "parameters": [["alpha", 1.0]]}) == (
        Job(**told, parameters=(("alpha", 1.0),)).key
    )


def test_no_job_runs_a_reader_of_a_users_files():
    """So they are no part of a digest, though jobs import them."""
    readers = str(digests.ROOT / "data" / "files")
    planned = [
        *runner.jobs_of(experiments(), TINY),
        *runner.jobs_of(experiments(), replace(profile("readings"), max_rows=400, quick=True)),
        replace(JOB, kind="candidate", max_rows=400, selection_rows=300),
    ]
    # Every method, and every kind.
    jobs = {(job.kind, job.contender * (job.kind == "fit")): job for job in planned}
    assert {kind for kind, _ in jobs} == set(work_module._WORK)
    methods, ran = known_methods(), set()

    def follow(frame, event, arg):
        ran.add(frame.f_code)

    for job in jobs.values():
        sys.settrace(follow)
        try:
            record = work(job, methods.get(job.contender))
        finally:
            sys.settrace(None)
        assert record["status"] == DONE, record
    places = {code.co_filename for code in ran if code.co_name != "<module>"}
    assert any(place.startswith(str(digests.ROOT / "data")) for place in places)
    assert not [place for place in places if place.startswith(readers)]
    begins = ("fairsmooth.experiments.run.fit", "fairsmooth.datasets.adult")
    assert not [name for name in modules_of(begins) if name.startswith(digests.IDLE)]
