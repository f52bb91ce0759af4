"""What is certified and what is not, in sentences computed from the numbers."""

import math
from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from fairsmooth.core.certificate import Certificate
from fairsmooth.core.labels import group_text
from fairsmooth.metrics.auditing.ratio_records import FOUR_FIFTHS, IMPACT_RATIO, four_fifths
from fairsmooth.metrics.record import Record, plain
from fairsmooth.metrics.scored import ScoredRows

Index = Mapping[tuple[str, Hashable | None], Record]

_MOST_PAIRS = 6
_RATES = "expected selection rate, true positive rate, false positive rate and error rate"


@dataclass(frozen=True)
class Statement:
    """One sentence, with the number in it.

    Attributes
    ----------
    kind : str
        "rates", "decisions", "disparity", "gap", "ratio" or "tie".
    groups : tuple
        The groups it is about; empty if about all.
    value : float
        The number it rests on.
    certified : bool
        Whether it holds for every population; else it was measured on the sample.
    text : str
        The sentence. Bounds in it are rounded up, proved shares rounded down.
    """

    kind: str
    groups: tuple[Hashable, ...]
    value: float
    certified: bool
    text: str

    def to_dict(self) -> dict[str, Any]:
        """Return plain data that JSON can hold."""
        return {name: plain(value) for name, value in vars(self).items()}


def certified_statements(scored: ScoredRows, found: Index) -> tuple[Statement, ...]:
    """Say what holds under any shift, what was proved of the sample, and what is open.

    Parameters
    ----------
    scored : ScoredRows
        The audited rows.
    found : mapping
        The records of the audit by metric and group.
    """
    certificate = scored.certificate
    certified: list[Statement] = []
    if certificate is not None:
        certified += [_rates(certificate, group) for group in scored.groups.labels]
        certified += _decisions(scored)
        certified += _disparities(certificate)
    return (*certified, *_gaps(found), *_ratio(found), *_ties(scored.groups.labels, found))


def _rates(certificate: Certificate, group: Hashable) -> Statement:
    bound = certificate.epsilon_by_group[group]
    whose = f"Under any shift, the {_RATES} of group {group_text(group)}"
    if bound >= 1.0:
        text = f"Nothing is certified for group {group_text(group)}: its bound is {_up(bound)}."
    elif bound == 0.0:
        text = f"{whose} are those of its own classifier: the bound is 0."
    else:
        text = f"{whose} stay within {_up(bound)} of its own classifier's."
    return Statement("rates", (group,), float(bound), bound < 1.0, text)


def _decisions(scored: ScoredRows) -> Iterator[Statement]:
    if scored.agreed is None:
        return
    agreed = scored.within_groups(scored.agreed)
    columns = agreed.counts.tolist(), agreed.sums.astype(int).tolist()
    for group, count, proved in zip(scored.groups.labels, *columns, strict=True):
        if not count:
            continue
        share = proved / count
        text = (
            f"Of the {count} rows of group {group_text(group)}, {proved} "
            f"({_down(100 * share, 2)} %) are proved to be decided, at the threshold "
            f"{scored.threshold:g}, as its own classifier decides them; of the other "
            f"{count - proved} nothing is proved."
        )
        yield Statement("decisions", (group,), share, True, text)


def _disparities(certificate: Certificate) -> Iterator[Statement]:
    bounds = certificate.epsilon_by_group
    groups = certificate.groups
    many = math.comb(len(groups), 2) > _MOST_PAIRS
    if many:
        largest = sorted(groups, key=bounds.__getitem__, reverse=True)[:2]
        groups = tuple(group for group in groups if group in largest)
    pairs = sorted(combinations(groups, 2), key=lambda p: -bounds[p[0]] - bounds[p[1]])
    for first, second in pairs:
        # One rounding up, since each bound is already rounded outward.
        bound = float(np.nextafter(bounds[first] + bounds[second], np.inf))
        which = ", the pair with the largest bound," if many else ""
        text = (
            "Under any shift, the difference of an expected rate between groups "
            f"{group_text(first)} and {group_text(second)}{which} exceeds the difference between "
            f"their own classifiers by at most {_up(bound)}."
        )
        if bound >= 1.0:
            text = (
                f"Nothing is certified about differences between groups {group_text(first)} and "
                f"{group_text(second)}{which}: the bound is {_up(bound)}."
            )
        yield Statement("disparity", (first, second), bound, bound < 1.0, text)


def _gaps(found: Index) -> Iterator[Statement]:
    names = {
        "demographic_parity": "the largest difference of selection rates between groups",
        "equalized_odds_sum": "the sum of the largest differences of true and of false "
        "positive rates between groups",
    }
    for metric, words in names.items():
        record = found.get((metric, None))
        if record is None:
            text = f"Not certified and not measured: {words} (the rows have no labels)."
            yield Statement("gap", (), math.nan, False, text)
            continue
        if math.isnan(record.value):
            text = f"Not certified and not measured: {words} ({record.note})."
        else:
            text = (
                f"Not certified: {words}. Measured on this sample: {record.value:.4f}, "
                f"between {record.low:.4f} and {record.high:.4f} with the audit's confidence"
            )
            text += f"; {record.note}." if record.note else "."
        yield Statement("gap", (), record.value, False, text)


def _ratio(found: Index) -> Iterator[Statement]:
    record = found[IMPACT_RATIO, None]
    words = "the impact ratio, the least selection rate of a group over the highest"
    verdict = four_fifths(record.value)
    if verdict is None:
        text = f"Not certified and not measured: {words} ({record.note})."
        yield Statement("ratio", (), record.value, False, text)
        return
    low, high = record.low or 0.0, record.high or 0.0
    sure = low >= FOUR_FIFTHS if verdict == "kept" else high < FOUR_FIFTHS
    text = (
        f"Not certified: {words}. Measured on this sample: {record.value:.4f}, between "
        f"{_down(low, 4)} and {_up(high)} with the audit's confidence. The four-fifths rule is "
        f"{verdict} on this sample; "
    )
    text += (
        "so it is, with the audit's confidence, where the sample came from."
        if sure
        else "the sample cannot tell whether it is where it came from."
    )
    yield Statement("ratio", (), record.value, False, text)


def _ties(groups: tuple[Hashable, ...], found: Index) -> Iterator[Statement]:
    costs = [(group, found.get(("tying_cost_log_loss", group))) for group in groups]
    known = [(r.value, g) for g, r in costs if r is not None and not math.isnan(r.value)]
    if not known:
        return
    cost, group = max(known, key=lambda pair: pair[0])
    text = (
        "Not certified: that a group's own classifier is the best for it, since they were "
        "trained with a tie. On this sample the tie cost "
    )
    text += (
        f"at most {cost:.4f} log-loss per row, in group {group_text(group)}."
        if cost > 0
        else "no group any log-loss."
    )
    yield Statement("tie", (group,), cost, False, text)


def _up(value: float, digits: int = 4) -> str:
    scale = 10**digits
    return f"{math.ceil(value * scale) / scale:.{digits}f}"


def _down(value: float, digits: int) -> str:
    scale = 10**digits
    return f"{math.floor(value * scale) / scale:.{digits}f}"
