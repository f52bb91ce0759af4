"""The paper's epsilon-fairness, measured on a sample beside its certified bound."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import ArrayLike

from fairsmooth.exceptions import InputError
from fairsmooth.metrics.auditing.rate_records import mean_records
from fairsmooth.metrics.rates import group_rates_of
from fairsmooth.metrics.record import Record
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
    if not p >= 1:
        raise InputError(f"Expected p >= 1, got p={p!r}.")
    sizes = np.abs(np.asarray(differences, dtype=np.float64))
    if not len(sizes):
        return float("nan")
    return float(sizes.max() if np.isinf(p) else (sizes**p).mean() ** (1.0 / p))


def epsilon_records(scored: ScoredRows) -> Iterator[Record]:
    """Yield how far the overall score is from each group's own, beside the bound.

    Per group and norm, on the group's own rows (``epsilon_l1``, ``epsilon_l2``,
    ``epsilon_linf``, the paper's definition) and on all rows
    (``epsilon_linf_all_rows``, ...), where the certificate holds as well.
    """
    certificate, everybody = scored.certificate, scored.distances
    if certificate is None or everybody is None:
        return
    for code, group in enumerate(scored.groups.labels):
        members = scored.members[code]
        differences = scored.probabilities[members] - scored.own[members]
        own = {name: sample_norm(differences, p) for name, p in NORMS.items()}
        all_rows = everybody[code]
        parts = ("", own, len(differences)), ("_all_rows", all_rows.norms(), all_rows.n_rows)
        for suffix, norms, count in parts:
            for name, value in norms.items():
                yield Record(
                    f"epsilon_{name}{suffix}",
                    group,
                    value,
                    count=count,
                    bound=certificate.epsilon_by_group[group],
                    note="" if count else "undefined: no rows",
                )


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
        values = overall[name]
        n_rows = [len(sample) for sample in samples]
        distances = np.abs(values - own[name])
        for code, group in enumerate(scored.groups.labels):
            yield Record(
                f"distance_from_own_{name}",
                group,
                float(distances[code]),
                count=int(n_rows[code]),
                bound=float(scored.epsilons[code]),
                note="" if n_rows[code] else "undefined: no rows",
            )


def agreement_records(scored: ScoredRows, *, confidence: float) -> Iterator[Record]:
    """Yield the share of rows that are proved to be decided as the group's own classifier does."""
    if scored.agreed is None:
        return
    yield from mean_records(
        "certified_agreement",
        scored.groups.labels,
        scored.by_group(scored.agreed)[:-1],
        error=(1.0 - confidence) / 2.0,
        exact=True,
    )
