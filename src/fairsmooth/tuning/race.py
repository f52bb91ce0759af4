"""Fold by fold, which trials are not worth another fold."""

from collections.abc import Mapping

from fairsmooth.tuning.judged import Judged
from fairsmooth.tuning.limits import Aim, SearchLimits

# A rival must be ahead by so many standard errors of the difference: luck on one fold is not it.
_CLEARLY = 2.0
# A bound has no noise, but moves a little with the rows it was trained on.
_BOUND_MOVES = 1.25


def reason_to_stop(
    judged: Judged, rivals: Mapping[int, Judged], limits: SearchLimits, aim: Aim
) -> str | None:
    """Say why a trial need not see its other folds, or None if it should.

    - It decides everybody alike.
    - Another trial, on the same rows, is more accurate by two standard errors, and no worse in
      the gaps (nor in the certified bound, where it is limited).
    - A gap is beyond its limit for certain (the lower end of its 95 % interval), or the
      certified bound is a quarter beyond its own, while another trial keeps all limits.
    """
    mine, done = judged.measured, len(judged.folds)
    limited = limits.max_epsilon is not None
    if rivals and judged.hits.sum() in (0, judged.rows.sum()):
        return "it decides everybody alike there"
    for number, rival in rivals.items():
        other = rival.first(done)
        theirs = other.measured
        ahead = theirs["accuracy"] - mine["accuracy"]
        noise = (judged.accuracy_error**2 + other.accuracy_error**2) ** 0.5
        costs = [n for n in mine if n != "accuracy" and (n != "epsilon" or limited)]
        if ahead > _CLEARLY * noise and all(theirs[name] <= mine[name] for name in costs):
            return f"trial {number} is {ahead:.3f} more accurate there, and no worse otherwise"
    if any(aim.kept(limits, rival.measured, None) for rival in rivals.values()):
        return _beyond(judged, limits)
    return None


def _beyond(judged: Judged, limits: SearchLimits) -> str | None:
    intervals = judged.intervals()
    for name, limit in limits.to_dict().items():
        low = judged.measured[name] / _BOUND_MOVES if name == "epsilon" else intervals[name][0]
        if low > limit:
            return f"{name.replace('_', ' ')} is beyond its limit there, at least {low:.3f}"
    return None
