"""Installing a fair rule in a trained classifier: search, common shift, check."""

import warnings
from collections.abc import Callable, Iterator, Mapping

import numpy as np

from fairsmooth._random import numpy_generator
from fairsmooth._types import Floats, Labels
from fairsmooth.core.architecture import Network
from fairsmooth.core.parameters import CENTERS
from fairsmooth.data.groups import Groups
from fairsmooth.exceptions import ConstantRuleWarning
from fairsmooth.training.decisions.last_layer import fair_intercept, last_inputs
from fairsmooth.training.decisions.limits import GapLimits
from fairsmooth.training.decisions.line import Judge
from fairsmooth.training.decisions.search import search_rules
from fairsmooth.training.decisions.shift import choose_length, common_shift

# Rules that are installed and checked before a constant decision is: smoothing takes time.
_MOST_TRIED = 3

Score = Callable[[Floats, Floats], Floats]


def install_fair_rule(
    network: Network,
    group_parameters: Floats,
    X: Floats,
    y: Labels,
    groups: Groups,
    *,
    limits: Mapping[str, float],
    sigma: float,
    center: str,
    score: Score,
    linear_score: Score,
    seed: int,
) -> Floats:
    """Return all groups' parameters, shifted alike, so that overall decisions keep the limits.

    The gaps of the *smooth* decisions at ½ on these rows are computed again for what is
    returned: they never exceed the limits. Where nothing but a constant decision keeps
    them, that is what is installed, with a :class:`ConstantRuleWarning`.

    Parameters
    ----------
    network : Network
        Its last layer is the one that is shifted: all of a linear model.
    group_parameters : ndarray of shape (K, m)
        As trained.
    X, y, groups
        The training rows.
    limits : mapping
        As in :class:`~fairsmooth.training.decisions.limits.GapLimits`.
    sigma, center
        As in the estimator.
    score : callable
        Smooth scores, for parameters and rows.
    linear_score : callable
        The same of a linear model, for its parameters and what the last layer sees.
    seed : int
    """
    judge = judge_of(y, groups, limits)
    overall = CENTERS[center](group_parameters)
    seen = last_inputs(network, overall, X, sigma=sigma)
    columns, width = seen.mean, seen.mean.shape[1] + 1
    generator = numpy_generator(seed, "decisions")
    found = search_rules(
        columns, judge, trained=overall[-width:], noise=seen.variance, generator=generator
    )
    flat = max(judge.merit(judge.hits(np.full(len(y), side)), 0.0) for side in (False, True))
    useful = [each.weights for each in found if each.excess == 0.0 and each.accuracy > flat]
    for rule in useful[:_MOST_TRIED]:
        wanted, spread = _with_last(overall, rule, columns, y, linear_score)
        if network.hidden_layer_sizes:
            wanted = fair_intercept(lambda w: score(w, X), wanted, judge, spread=spread)
        shifted = common_shift(group_parameters, overall, wanted)
        if _keeps(score(CENTERS[center](shifted), X), judge):
            return shifted
    return _constant(group_parameters, overall, width, X, judge, center, score)


def judge_of(y: Labels, groups: Groups, limits: Mapping[str, float]) -> Judge:
    """Return what decisions on these rows are judged by."""
    cells = np.asarray(2 * groups.codes + y, dtype=np.intp)
    shape = (len(groups.labels), 2)
    counts = np.bincount(cells, minlength=2 * shape[0]).reshape(shape).astype(np.float64)
    return Judge(GapLimits(dict(limits), counts), cells)


def _with_last(
    overall: Floats, rule: Floats, columns: Floats, y: Labels, rule_scores: Score
) -> tuple[Floats, float]:
    """Return overall parameters whose last layer is the rule in its best length, and its spread.

    The length is that of a linear model of what the last layer sees: exact without hidden
    layers, and with them near enough for a scale that the calibration corrects.
    """
    linear = columns @ rule[:-1] + rule[-1]
    last = choose_length(lambda w: rule_scores(w, columns), rule, y, scores_of_rule=linear)
    wanted = np.array(overall)
    wanted[-len(last) :] = last
    spread = np.sqrt(np.mean(linear**2)) * np.linalg.norm(last) / np.linalg.norm(rule)
    return wanted, float(spread)


def _keeps(scores: Floats, judge: Judge) -> bool:
    return float(judge.limits.excess(judge.hits(scores > 0.5))) == 0.0


def _constant(
    group_parameters: Floats,
    overall: Floats,
    width: int,
    X: Floats,
    judge: Judge,
    center: str,
    score: Score,
) -> Floats:
    """Return parameters of the better constant decision that keeps the limits."""
    warnings.warn(
        "No rule of these columns was found that keeps the limits on the gaps and is more accurate "
        "than one decision for everybody, so that is what every row gets. Allow larger gaps, "
        "or add columns.",
        ConstantRuleWarning,
        stacklevel=2,
    )
    for shifted in _constants(group_parameters, overall, width, judge):
        if _keeps(score(CENTERS[center](shifted), X), judge):
            return shifted
    raise AssertionError("a constant decision has no gaps")  # pragma: no cover


def _constants(
    group_parameters: Floats, overall: Floats, width: int, judge: Judge
) -> Iterator[Floats]:
    counts = judge.limits.counts.sum(axis=0)
    sides = (1.0, -1.0) if counts[1] > counts[0] else (-1.0, 1.0)
    for side in sides:
        wanted = np.array(overall)
        wanted[-width:] = 0.0
        wanted[-1] = side
        yield common_shift(group_parameters, overall, wanted)
