"""Charts that need no script, for where the extra ``report`` is not installed."""

from dataclasses import dataclass

from markupsafe import Markup

from fairsmooth.metrics import Audit
from fairsmooth.reporting import figures
from fairsmooth.reporting.wording import group_names

_RATES = {
    "selection_rate": "Selected, of all people in the group",
    "true_positive_rate": "Selected, of those truly positive",
    "false_positive_rate": "Selected, of those truly negative",
}
_SHIFT_GAPS = {
    "expected_demographic_parity": "Gap of expected selection rates, as the population shifts",
    "expected_equalized_odds_sum": "Sum of the gaps of expected TPR and FPR, as it shifts",
}


@dataclass(frozen=True)
class Still:
    """A picture with its words."""

    title: str
    caption: str
    svg: Markup


def rate_figures(audit: Audit) -> list[Still]:
    """Draw rates with their intervals."""
    names = group_names(audit.groups)
    drawn = []
    for metric, title in _RATES.items():
        records = [(name, audit.find(metric, group)) for group, name in names.items()]
        known = [
            (n, r) for n, r in records if r is not None and r.low is not None and r.value == r.value
        ]
        if known:
            figure = figures.intervals(
                [name for name, _ in known],
                [record.value for _, record in known],
                [record.low or 0.0 for _, record in known],
                [record.high or 0.0 for _, record in known],
                title="",
            )
            caption = f"Dots are measured, bars are {audit.confidence:.0%} intervals."
            drawn.append(Still(title, caption, _svg(figure)))
    return drawn


def shift_figures(audit: Audit) -> list[Still]:
    """Draw both gaps under the shifts of the audit."""
    if audit.shift is None:
        return []
    points = audit.shift.to_frame()
    drawn = []
    for metric, title in _SHIFT_GAPS.items():
        chosen = points[(points["metric"] == metric) & ~points["curve"].str.startswith("group_mix")]
        chosen = chosen[~chosen["curve"].str.endswith("_smallest")]
        curves = {
            str(name).replace("_", " "): part for name, part in chosen.groupby("curve", sort=False)
        }
        caption = "The band is what the certificate allows; the dashed line a plain regression."
        drawn.append(Still(title, caption, _svg(figures.shift_panels(curves, title=""))))
    return drawn


def _svg(figure: object) -> Markup:
    return Markup(figures.as_svg(figure))  # type: ignore[arg-type]
