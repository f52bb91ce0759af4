"""The paper's epsilon-fairness, measured on a sample beside its certified bound."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import ArrayLike

from fairsmooth._types import Floats
from fairsmooth.exceptions import InputError
from fairsmooth.metrics.auditing.rate_records import share_records
from fairsmooth.metrics.rates import group_rates_of
from fairsmooth.metrics.record import Record
from fairsmooth.metrics.samples import Samples
from fairsmooth.metrics.scored import EXPECTED, ScoredRows

NORMS = {"l1": 1.0, "l2": 2.0, "linf": np.inf}


def sample_norm(differences: ArrayLike, p: float) -> float:
    r"""Return the scale-free norm :math:`|\Omega|^{-1/p}\lVert v\rVert_p` over a sample.

    The mean absolute difference for ``p = 1``, the root mean square for
    ``p = 2``, the largest for ``p = inf``; none grows with the sample, and each
    is at most the next. NaN over no rows.

    Differs from the paper, which prints :math:`|\Omega|^{-1}` for every ``p``.
    On a sample of at least one row that norm is never larger, so what is
    reported here bounds it too.

    References
    ----------
    Definition of epsilon-fairness, Eq. (7) and (8).

    Examples
    --------
    >>> [sample_norm([3.0, -4.0], p) for p in (1, 2, float("inf"))]
    [3.5, 3.5355..., 4.0]
    """
    return float(sample_norms(Samples.of([differences]), p)[0])


def sample_norms(differences: Samples, p: float) -> Floats:
    """Return :func:`sample_norm` of several samples."""
    if not p >= 1:
        raise InputError(f"Expected p >= 1, got p={p!r}.")
    sizes = Samples(np.abs(differences.values), differences.counts)
    if np.isinf(p):
        return np.where(sizes.counts > 0, sizes.largest, np.nan)
    powers = Samples(sizes.values**p, sizes.counts)
    return powers.means ** (1.0 / p)


def epsilon_records(scored: ScoredRows) -> Iterator[Record]:
    """Yield how far the overall score is from each group's own, beside the bound.

    Per group and norm, on the group's own rows (``epsilon_l1``, ``epsilon_l2``,
    ``epsilon_linf``, the paper's definition) and on all rows
    (``epsilon_linf_all_rows``, ...), where the certificate holds as well.
    """
    certificate, everybody = scored.certificate, scored.distances
    if certificate is None or everybody is None:
        return
    differences = scored.within_groups(scored.probabilities - scored.own)
    own = {f"epsilon_{name}": sample_norms(differences, p).tolist() for name, p in NORMS.items()}
    counts, bounds = differences.counts.tolist(), scored.epsilons.tolist()
    for code, (group, bound) in enumerate(zip(scored.groups.labels, bounds, strict=True)):
        all_rows = everybody[code]
        parts = [(metric, values[code], counts[code]) for metric, values in own.items()]
        parts += [
            (f"epsilon_{n}_all_rows", v, all_rows.n_rows) for n, v in all_rows.norms().items()
        ]
        for metric, value, count in parts:
            note = "" if count else "undefined: no rows"
            yield Record(metric, group, value, None, None, count, bound, note)


def rate_distance_records(scored: ScoredRows) -> Iterator[Record]:
    """Yield how far each expected rate of a group is from that of its own classifier.

    Each is an average over rows of the group, of scores or of ``|score - label|``,
    so the certificate bounds it: on this sample, and on any other. Without labels the
    selection rate alone.
    """
    if scored.own_scores is None:
        return
    own = group_rates_of(scored.own, scored.y, scored.groups)
    overall = group_rates_of(scored.probabilities, scored.y, scored.groups)
    for name, samples in scored.samples[EXPECTED].items():
        distances = np.abs(overall[name] - own[name])[:-1]
        columns = (each.tolist() for each in (distances, samples.counts[:-1], scored.epsilons))
        for group, distance, count, bound in zip(scored.groups.labels, *columns, strict=True):
            note = "" if count else "undefined: no rows"
            metric = f"distance_from_own_{name}"
            yield Record(metric, group, distance, None, None, count, bound, note)


def agreement_records(scored: ScoredRows, *, confidence: float) -> Iterator[Record]:
    """Yield the share of rows that are proved to be decided as the group's own classifier does."""
    if scored.agreed is None:
        return
    agreed, tail = scored.within_groups(scored.agreed), (1.0 - confidence) / 2.0
    yield from share_records(
        "certified_agreement", scored.groups.labels, agreed.sums, agreed.counts, error=tail
    )
