"""What of a run has not been done yet, in one line per table or figure."""

from collections.abc import Sequence

from fairsmooth.experiments import Experiment, Profile, Selection, Store
from fairsmooth.experiments.run.choice import resolved
from fairsmooth.experiments.run.plan import Point, points_of


def unfinished(
    experiments: Sequence[Experiment], profile: Profile, store: Store, selection: Selection
) -> list[str]:
    """Return how much of each experiment has run, for those that are not complete."""
    told = []
    for experiment in experiments:
        # Several points of a figure may be measured on one fit.
        points = {point.job: point for point in points_of(experiment, profile, selection)}
        ran = sum(_has_run(point, store) for point in points.values())
        if ran < len(points):
            what = "fits" if experiment.kind == "fit" else "jobs"
            place = experiment.paper if experiment.kind == "fit" else experiment.name
            told.append(f"{place}: {ran:,} of {len(points):,} {what} have run")
    return told


def _has_run(point: Point, store: Store) -> bool:
    job = resolved(point.job, point.candidates, store)
    # A text says why every candidate failed: nothing is left to run.
    return isinstance(job, str) or (job is not None and job.key in store)
