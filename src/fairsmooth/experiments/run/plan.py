"""Which jobs an experiment needs, and which row each of them makes."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

from fairsmooth.baselines import Method
from fairsmooth.datasets import entry
from fairsmooth.experiments.beyond.readings import COLUMNS, CONTROL, PAIRS, SCHEDULES
from fairsmooth.experiments.beyond.tradeoff import CEILING, sighted
from fairsmooth.experiments.declaration import PUBLISHED, TUNED, Experiment
from fairsmooth.experiments.run.field import taking_part
from fairsmooth.experiments.run.job import Job
from fairsmooth.experiments.run.profiles import ENCODINGS, Profile, thinned
from fairsmooth.experiments.run.selection import EVERYTHING, Selection
from fairsmooth.experiments.run.tradeoff import ALL_ROWS, SPLIT, entries, limits_of

PARTITION, GROUP_RATIO, PAIR = "partition", "group_ratio", "pair"

# A fit, and the jobs that its parameters are chosen among.
Chosen = tuple[Job, tuple[Job, ...]]


@dataclass(frozen=True)
class Point:
    """One row to come: an experiment, the job behind it, and its place on an axis.

    Where the parameters are to be chosen, ``candidates`` are the jobs that tell which.
    """

    experiment: str
    job: Job
    method: str
    axis: str = ""
    value: float | None = None
    track: str = TUNED
    candidates: tuple[Job, ...] = ()


def points_of(
    experiment: Experiment, profile: Profile, selection: Selection = EVERYTHING
) -> list[Point]:
    """Return every row that an experiment is to have."""
    if experiment.kind == "fit":
        points = _fit_points(experiment, profile, selection)
    else:
        makers = {
            "draws": _draws_points, "ceiling": _ceiling_points, "tradeoff": _tradeoff_points,
            "readings": _readings_points,
        }  # fmt: skip
        points = makers[experiment.kind](experiment, profile)
    return [point for point in points if selection.keeps(point.job)]


def _fit_points(experiment: Experiment, profile: Profile, selection: Selection) -> Iterator[Point]:
    for base, method in _bases(experiment, profile, selection):
        tuned = _tuned(base, method, profile)
        if not experiment.sweep:
            yield from _in_tracks(experiment, base, method, tuned)
        focused = not experiment.focus or method.name in experiment.focus
        count = profile.n_points if focused else profile.n_points_others
        for axis, values in experiment.sweep.items():
            # Partitions cost nothing: every fit is measured on all of them anyway.
            kept = values if axis == PARTITION else thinned(values, count)
            for value in kept:
                job, candidates = _swept(base, tuned, experiment, axis=axis, value=value)
                yield Point(experiment.name, job, method.name, axis, value, candidates=candidates)


def _bases(
    experiment: Experiment, profile: Profile, selection: Selection
) -> Iterator[tuple[Job, Method]]:
    budget: Any = {"max_rows": profile.max_rows, "quick": profile.quick}
    methods = taking_part(experiment, selection.outside)
    for case in (*experiment.cases, *selection.further_cases()):
        known = entry(case.split("-", 1)[0]).available
        for encoding in (each for each in ENCODINGS if each in known):
            for trial in range(profile.n_trials):
                for method in methods:
                    yield Job("fit", case, encoding, trial, method.name, **budget), method


def _in_tracks(experiment: Experiment, base: Job, method: Method, tuned: Chosen) -> Iterator[Point]:
    if PUBLISHED in experiment.tracks:
        job = replace(base, parameters=_pairs(method.as_published))
        yield Point(experiment.name, job, method.name, track=PUBLISHED)
    if TUNED in experiment.tracks:
        yield Point(experiment.name, tuned[0], method.name, candidates=tuned[1])


def _tuned(base: Job, method: Method, profile: Profile) -> Chosen:
    """Return a fit and what its parameters are chosen among; one candidate is no choice."""
    parameters = [_pairs(each) for each in method.grid[: profile.n_candidates]]
    if len(parameters) == 1:
        return replace(base, parameters=parameters[0]), ()
    candidate = replace(base, kind="candidate", selection_rows=profile.selection_rows)
    return base, tuple(replace(candidate, parameters=each) for each in parameters)


def _swept(base: Job, tuned: Chosen, experiment: Experiment, *, axis: str, value: float) -> Chosen:
    job, candidates = tuned
    if axis == PARTITION:
        return tuned
    if axis == GROUP_RATIO:
        # What is chosen with the training part as it is serves every share of a group.
        return replace(job, group_ratio=value), candidates
    return replace(base, parameters=_pairs({**experiment.fixed, axis: value})), ()


def _draws_points(experiment: Experiment, profile: Profile) -> Iterator[Point]:
    ((axis, values),) = experiment.sweep.items()
    numbers = tuple(int(value) for value in values if value <= profile.max_draws)
    extra = _pairs({"n_draws": numbers, "rows": profile.draws_rows})
    for case in experiment.cases:
        for trial in range(profile.n_trials):
            for model, parameters in experiment.fixed.items():
                job = Job(
                    "draws",
                    case,
                    ENCODINGS[0],
                    trial,
                    parameters=_pairs(parameters),
                    max_rows=profile.max_rows,
                    extra=extra,
                )
                for number in numbers:
                    yield Point(experiment.name, job, model, axis, number)


def _ceiling_points(experiment: Experiment, profile: Profile) -> Iterator[Point]:
    for case in experiment.cases:
        for encoding in ENCODINGS:
            extra = _pairs(experiment.fixed[case])
            job = Job("ceiling", case, encoding, max_rows=profile.max_rows, extra=extra)
            yield Point(experiment.name, job, "any")


def _tradeoff_points(experiment: Experiment, profile: Profile) -> Iterator[Point]:
    extras = {case: _pairs(experiment.fixed[case]) for case in experiment.cases}
    budget: Any = {"max_rows": profile.max_rows, "quick": profile.quick}
    trials = range(profile.first_trial, profile.first_trial + profile.n_trials)
    for trial, (case, extra) in product(trials, extras.items()):
        job = Job("tradeoff", case, "raw", trial, SPLIT, **budget, extra=extra)
        for shown in entries(job.dataset, limits_of(extra), quick=profile.quick):
            yield Point(experiment.name, job, *shown)
    # A ceiling is computed from all rows, so that it has no trials.
    for (case, extra), told in product(extras.items(), (False, True)):
        job = Job("tradeoff", case, "raw", 0, ALL_ROWS, **budget, extra=extra)
        yield Point(experiment.name, job, sighted(CEILING, told=told))


def _readings_points(experiment: Experiment, profile: Profile) -> Iterator[Point]:
    budget: Any = {"max_rows": profile.max_rows, "quick": profile.quick}
    for trial, case, columns in product(range(profile.n_trials), experiment.cases, COLUMNS):
        for schedule in SCHEDULES:
            job = Job("readings", case, columns, trial, schedule, **budget)
            for number in range(0, len(PAIRS), 14 if profile.quick else 1):
                yield Point(experiment.name, job, schedule, PAIR, number)
        # The control takes part in every job, and is shown once.
        yield Point(experiment.name, job, CONTROL)


def _pairs(settings: Any) -> tuple[tuple[str, Any], ...]:
    plain = {
        name: tuple(each) if isinstance(each, list) else each for name, each in settings.items()
    }
    return tuple(sorted(plain.items()))
