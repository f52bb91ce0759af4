"""Charts that a slider moves: the page's script puts new rows into their named data."""

from typing import Any

import altair as alt

from fairsmooth.reporting.charts.drawing import (
    GREY,
    MODEL,
    OTHER,
    ROW,
    THIRD,
    finished,
    groups_axis,
    rate_axis,
)

KINDS = ("selected", "true positive rate", "false positive rate")


def at_threshold(n_groups: int, *, labelled: bool) -> dict[str, Any]:
    """Draw rates at one threshold; the rows of ``explored`` come from the page's script."""
    kinds = KINDS if labelled else KINDS[:1]
    colours = alt.Scale(domain=kinds, range=[MODEL, THIRD, OTHER][: len(kinds)])
    shapes = alt.Scale(domain=kinds, range=["circle", "triangle-up", "diamond"][: len(kinds)])
    legend = alt.Legend(orient="bottom", direction="vertical", symbolOpacity=1)
    base = alt.Chart(alt.NamedData("explored")).encode(
        y=groups_axis(),
        color=alt.Color("kind:N", sort=None, title=None, scale=colours, legend=legend),
    )
    axis = "share that is selected"
    chart = alt.layer(
        base.mark_rule(strokeWidth=7, opacity=0.38, strokeCap="round").encode(
            x=rate_axis("low", axis, top=1.0), x2="high:Q"
        ),
        base.mark_point(filled=True, size=80, opacity=1).encode(
            x=rate_axis("middle", axis, top=1.0),
            shape=alt.Shape("kind:N", sort=None, title=None, scale=shapes),
            tooltip=["group:N", "kind:N", alt.Tooltip("middle:Q", format=".1%", title="rate")],
        ),
    )
    plain = finished(chart, height=max(2, n_groups) * (ROW + 4))
    return plain | {"datasets": {"explored": []}}


def at_radius(*, axis: str) -> dict[str, Any]:
    """Draw the guaranteed band over the radius; ``bounds``, ``here``, ``limit`` and ``radius``."""
    x = alt.X(
        "radius:Q",
        title="how far people changed",
        axis=alt.Axis(grid=True, domain=False, tickCount=5),
        scale=alt.Scale(nice=False),
    )
    y = alt.Y("bound:Q", title=axis, axis=alt.Axis(grid=True, domain=False, tickCount=5))
    bounds = alt.Chart(alt.NamedData("bounds"))
    here = alt.Chart(alt.NamedData("here"))
    # Between two radii of the grid the bound of the further one is shown: it errs on the safe side.
    step = {"interpolate": "step-before"}
    chart = alt.layer(
        bounds.mark_area(opacity=0.22, color=MODEL, **step).encode(x=x, y=y, y2="floor:Q"),
        bounds.mark_line(strokeWidth=2, color=MODEL, **step).encode(x=x, y=y),
        alt.Chart(alt.NamedData("limit"))
        .mark_rule(color=OTHER, strokeWidth=2, strokeDash=[6, 4])
        .encode(y="bound:Q"),
        alt.Chart(alt.NamedData("certified"))
        .mark_rule(color=THIRD, strokeWidth=2)
        .encode(x="radius:Q"),
        here.mark_rule(color=GREY, strokeWidth=1).encode(x="radius:Q"),
        here.mark_point(filled=True, size=110, opacity=1, color=MODEL).encode(
            x=x, y=y, tooltip=[alt.Tooltip("radius:Q"), alt.Tooltip("bound:Q", format=".4f")]
        ),
    )
    plain = finished(chart, height=260)
    return plain | {"datasets": {name: [] for name in ("bounds", "here", "limit", "certified")}}


def along_a_shift(*, axis: str, reference: bool) -> dict[str, Any]:
    """Draw a measured curve as people change: ``curve`` comes from the page's script."""
    curve = alt.Chart(alt.NamedData("curve"))
    x = alt.X(
        "strength:Q",
        title="strength of the change",
        axis=alt.Axis(grid=True, domain=False, tickCount=5),
        scale=alt.Scale(zero=False, nice=False),
    )
    y = alt.Y(
        "value:Q",
        title=axis,
        axis=alt.Axis(grid=True, domain=False, tickCount=5, format="~g"),
        scale=alt.Scale(zero=False),
    )
    kinds = ["this model", "plain logistic regression"][: 1 + reference]
    names = alt.Scale(domain=kinds, range=[MODEL, OTHER][: len(kinds)])
    legend = alt.Legend(orient="bottom")
    colour = alt.Color("kind:N", sort=None, title=None, scale=names, legend=legend)
    tips = [alt.Tooltip(f"{n}:Q", format=".4f") for n in ("strength", "value", "low", "high")]
    layers = [
        curve.mark_area(opacity=0.3, color=MODEL).encode(x=x, y="low:Q", y2="high:Q"),
        curve.transform_calculate(kind="'this model'")
        .mark_line(strokeWidth=2, point=alt.OverlayMarkDef(size=30))
        .encode(x=x, y=y, color=colour, tooltip=tips),
    ]
    if reference:
        line = curve.transform_calculate(kind="'plain logistic regression'")
        dashed = line.mark_line(strokeWidth=2, strokeDash=[5, 4])
        layers.append(dashed.encode(x=x, y="reference:Q", color=colour))
    chart = alt.layer(*layers)
    return finished(chart, height=260) | {"datasets": {"curve": []}}
