from dataclasses import replace

import pytest

from fairsmooth.baselines import method
from fairsmooth.exceptions import InputError
from fairsmooth.experiments import PROFILES, Selection, experiments, jobs_of, profile
from fairsmooth.experiments.run.job import Job
from fairsmooth.experiments.run.plan import points_of
from fairsmooth.experiments.run.profiles import thinned

EXPERIMENTS = {experiment.name: experiment for experiment in experiments()}
JOB = Job("fit", "adult-sex", "binned", 0, "arl")


def test_experiments_share_their_fits():
    smoke = profile("smoke")
    alone = {name: set(jobs_of([each], smoke)) for name, each in EXPERIMENTS.items()}
    assert alone["figure1"] < alone["table1"]
    assert alone["figure4"] < alone["table4"]
    assert alone["table3"] < alone["table1"] | alone["table4"]
    together = jobs_of(list(EXPERIMENTS.values()), smoke)
    assert len(together) == len(set(together)) == len(set.union(*alone.values()))


def test_candidates_come_first_and_are_shared_by_all_group_ratios():
    jobs = jobs_of([EXPERIMENTS["figure2"]], profile("laptop"), Selection(("fairsmooth",)))
    kinds = [job.kind for job in jobs]
    assert kinds == sorted(kinds)
    assert 3 * kinds.count("fit") == 9 * kinds.count("candidate")


def test_tables_run_in_two_tracks():
    few = Selection(("group_fair", "arl"), ("compas", "binned"))
    points = points_of(EXPERIMENTS["table1"], profile("laptop"), few)
    published = {point.method: point for point in points if point.track == "published"}
    tuned = {point.method: point for point in points if point.track == "tuned"}
    for name, point in published.items():
        assert dict(point.job.parameters) == dict(method(name).as_published)
        assert not point.candidates
    for name, point in tuned.items():
        tried = [dict(each.parameters) for each in point.candidates]
        assert tried == [dict(each) for each in method(name).grid[:3]]
    assert not {point.track for point in points_of(EXPERIMENTS["figure2"], profile("smoke"))} - {
        "tuned"
    }


def test_what_is_published_is_the_first_candidate_unless_said():
    known = method("arl")
    assert known.as_published == known.grid[0]
    assert replace(known, published={"n_steps": 7}).as_published == {"n_steps": 7}


def test_keys_name_everything_that_changes_the_outcome():
    others = [
        replace(JOB, trial=1),
        replace(JOB, encoding="aif360"),
        replace(JOB, contender="dlr"),
        replace(JOB, parameters=(("alpha", 1.0),)),
        replace(JOB, group_ratio=0.1),
        replace(JOB, max_rows=10),
        replace(JOB, quick=True),
        replace(JOB, kind="candidate"),
        replace(JOB, kind="candidate", selection_rows=100),
    ]
    keys = {job.key for job in (JOB, *others)}
    assert len(keys) == 1 + len(others)
    assert replace(JOB).key == JOB.key


def test_seeds_do_not_depend_on_who_else_takes_part():
    methods = Selection(("arl", "fairsmooth"))
    jobs = jobs_of([EXPERIMENTS["table1"]], profile("smoke"))
    everyone = {job.key: job.seed for job in jobs}
    few = {job.key: job.seed for job in jobs_of([EXPERIMENTS["table1"]], profile("smoke"), methods)}
    assert few.items() <= everyone.items()
    # One seed for a method in a trial, whatever its parameters.
    places = {(job.case, job.encoding, job.trial, job.contender) for job in jobs}
    assert len(set(everyone.values())) == len(places)


def test_splits_are_the_same_for_all_methods_and_encodings():
    assert replace(JOB, contender="dlr", encoding="aif360").split_seed == JOB.split_seed
    assert replace(JOB, trial=1).split_seed != JOB.split_seed


def test_others_run_at_fewer_points_of_a_sweep():
    points = points_of(EXPERIMENTS["figure2"], profile("laptop"), Selection((), ("adult",)))
    by_method = {
        name: {point.value for point in points if point.method == name}
        for name in ("fairsmooth", "arl")
    }
    assert len(by_method["fairsmooth"]) == 9
    assert by_method["arl"] == {0.1, 0.9}


def test_thinning_keeps_both_ends():
    values = (1.0, 2.0, 3.0, 4.0, 5.0, 6.0)
    assert thinned(values, 2) == (1.0, 6.0)
    assert thinned(values, None) == values == thinned(values, 9)


def test_selection_keeps_what_fits_every_word():
    jobs = jobs_of([EXPERIMENTS["table1"]], PROFILES[0], Selection(("arl",), ("compas", "binned")))
    assert {(job.case, job.encoding, job.contender) for job in jobs} == {
        ("compas-sex", "binned", "arl")
    }


@pytest.mark.parametrize(
    ("selection", "message"),
    [
        (Selection(("boosting",)), "Expected methods to be one of 'apxfair'"),
        (Selection((), ("mars",)), "Expected only to be one of 'adult'"),
    ],
)
def test_unknown_names_are_refused(selection, message):
    with pytest.raises(InputError, match=message):
        selection.check()


def test_unknown_profile_and_method_are_refused():
    with pytest.raises(InputError, match="Expected a profile among smoke, laptop, paper"):
        profile("cluster")
    with pytest.raises(InputError, match="Expected method to be one of 'apxfair'"):
        method("boosting")
