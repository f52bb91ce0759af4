"""Which jobs an experiment needs, and which row each of them makes."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from fairsmooth import _validate
from fairsmooth.experiments._job import Job
from fairsmooth.experiments._profiles import ENCODINGS, Profile, thinned
from fairsmooth.experiments._spec import Experiment

PARTITION, GROUP_RATIO = "partition", "group_ratio"


@dataclass(frozen=True)
class Point:
    """One row to come: an experiment, the job behind it, and its place on an axis."""

    experiment: str
    job: Job
    method: str
    axis: str = ""
    value: float | None = None


@dataclass(frozen=True)
class Selection:
    """What of the experiments is run; empty tuples leave everything in.

    Attributes
    ----------
    methods : tuple of str
        Contenders.
    only : tuple of str
        Datasets, sensitive attributes, cases or encodings, all of which must fit.
    """

    methods: tuple[str, ...] = ()
    only: tuple[str, ...] = ()

    def keeps(self, job: Job) -> bool:
        """Tell whether a job is part of the selection."""
        names = {job.dataset, job.sensitive, job.case, job.encoding}
        wanted = not self.methods or not job.contender or job.contender in self.methods
        return wanted and names.issuperset(self.only)

    def check(self, experiments: Sequence[Experiment]) -> None:
        """Refuse names that no experiment knows."""
        methods = dict.fromkeys(name for each in experiments for name in each.contenders)
        cases = dict.fromkeys(case for each in experiments for case in each.cases)
        parts = dict.fromkeys(part for case in cases for part in case.split("-"))
        for name in self.methods:
            _validate.one_of(tuple(methods), methods=name)
        for name in self.only:
            _validate.one_of((*parts, *cases, *ENCODINGS), only=name)


EVERYTHING = Selection()


def points_of(
    experiment: Experiment, profile: Profile, selection: Selection = EVERYTHING
) -> list[Point]:
    """Return every row that an experiment is to have."""
    makers = {"fit": _fit_points, "draws": _draws_points, "ceiling": _ceiling_points}
    points = makers[experiment.kind](experiment, profile)
    return [point for point in points if selection.keeps(point.job)]


def choice_of(job: Job) -> Job:
    """Return the job that chooses the parameters of a fit: the same for every group ratio."""
    return replace(job, kind="choice", group_ratio=None, chosen=False)


def _fit_points(experiment: Experiment, profile: Profile) -> Iterator[Point]:
    for base in _bases(experiment, profile):
        if not experiment.sweep:
            yield Point(experiment.name, _with_choice(base, profile), base.contender)
        focused = base.contender in (experiment.focus or experiment.contenders)
        count = profile.n_points if focused else profile.n_points_others
        for axis, values in experiment.sweep.items():
            # Partitions cost nothing: every fit is measured on all of them anyway.
            kept = values if axis == PARTITION else thinned(values, count)
            for value in kept:
                job = _swept(base, experiment, profile, axis=axis, value=value)
                yield Point(experiment.name, job, base.contender, axis, value)


def _bases(experiment: Experiment, profile: Profile) -> Iterator[Job]:
    for case in experiment.cases:
        for encoding in ENCODINGS:
            for trial in range(profile.n_trials):
                for name in experiment.contenders:
                    yield Job(
                        "fit",
                        case,
                        encoding,
                        trial,
                        name,
                        max_rows=profile.max_rows,
                        quick=profile.quick,
                    )


def _with_choice(job: Job, profile: Profile) -> Job:
    if profile.n_candidates == 1:
        return job
    return replace(
        job,
        chosen=True,
        n_candidates=profile.n_candidates,
        selection_rows=profile.selection_rows,
    )


def _swept(base: Job, experiment: Experiment, profile: Profile, *, axis: str, value: float) -> Job:
    if axis == PARTITION:
        return _with_choice(base, profile)
    if axis == GROUP_RATIO:
        return _with_choice(replace(base, group_ratio=value), profile)
    return replace(base, parameters=_pairs({**experiment.fixed, axis: value}))


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


def _pairs(settings: Any) -> tuple[tuple[str, Any], ...]:
    return tuple(sorted(settings.items()))
