"""What every chart shares: its words, its look, and the form in which a page holds it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import altair as alt
from markupsafe import Markup

# Of the page's style sheet, so that light and dark are settled in one place.
MODEL, OTHER, THIRD, FOURTH, GREY = (f"var(--c{i})" for i in range(5))
ROW = 26
# Width of the groups' names, and how many letters that is; the page's script takes less of both
# where there is little room. Cut in the middle: names of one kind often differ at their end alone.
LABELS = 170
LETTERS = 22
_CUT = (
    "length(datum.label) > letters ? slice(datum.label, 0, letters / 2 - 1) + '…' + "
    "slice(datum.label, -letters / 2) : datum.label"
)
_FONT = 'system-ui, "Segoe UI", sans-serif'


@dataclass(frozen=True)
class Drawn:
    """A chart with the words around it.

    Attributes
    ----------
    name : str
        Of the element that it is drawn in.
    title, caption : str
        What it shows; what to see in it.
    alt : str
        The chart in words, for those who do not see it.
    spec : mapping
        Vega-Lite.
    svg : Markup or None
        Instead: a picture that needs no script.
    """

    name: str
    title: str
    caption: str
    alt: str
    spec: Mapping[str, Any] = field(default_factory=dict)
    svg: Markup | None = None


def finished(chart: Any, *, height: int | Any) -> dict[str, Any]:
    """Return a chart as Vega-Lite that fills its place and takes its colours from the page."""
    plain: dict[str, Any] = (
        chart.properties(width="container", height=height, background="transparent")
        .configure(
            font=_FONT, autosize=alt.AutoSizeParams(type="fit-x", contains="padding", resize=True)
        )
        .configure_view(stroke=None)
        .configure_axis(
            labelFontSize=12, titleFontSize=12, titleFontWeight="normal", titlePadding=8
        )
        .configure_axisY(labelLimit=LABELS)
        .configure_legend(labelFontSize=12, titleFontSize=12, labelLimit=240)
        .to_dict(validate=True)
    )
    plain["params"] = [*plain.get("params", []), {"name": "letters", "value": LETTERS}]
    return plain


def data(rows: Sequence[Mapping[str, Any]]) -> Any:
    """Return rows as data of their own."""
    return alt.InlineData(values=list(rows))


def groups_axis(**more: Any) -> Any:
    """Return the axis of groups: one row each, in the order of the data."""
    axis = alt.Axis(ticks=False, domain=False, labelPadding=8, labelExpr=_CUT)
    return alt.Y("group:N", sort=None, title=None, axis=axis, **more)


def rate_axis(field: str, title: str, *, top: float, bottom: float = 0.0) -> Any:
    """Return an axis of shares, in percent."""
    axis = alt.Axis(format="~%", tickCount=5, grid=True, domain=False)
    scale = alt.Scale(domain=[bottom, top], nice=True, zero=bottom == 0.0)
    return alt.X(f"{field}:Q", title=title, axis=axis, scale=scale)
