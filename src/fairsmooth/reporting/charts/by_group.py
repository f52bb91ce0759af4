"""Charts with one row per group."""

from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt

from fairsmooth.reporting.charts.drawing import (
    GREY,
    MODEL,
    OTHER,
    ROW,
    data,
    finished,
    groups_axis,
    rate_axis,
)

Rows = Sequence[Mapping[str, Any]]


def intervals(rows: Rows, *, axis: str, limit: float | None = None) -> dict[str, Any]:
    """Draw ``group``, ``value``, ``low``, ``high`` and, where given, ``reference``."""
    top = min(1.0, 1.02 * max(max(r["high"], r["value"], r.get("reference") or 0) for r in rows))
    base = alt.Chart(data(rows)).encode(y=groups_axis())
    tips = [
        alt.Tooltip("group:N"),
        *(alt.Tooltip(f"{name}:Q", format=".1%") for name in ("value", "low", "high")),
        alt.Tooltip("rows:Q", format=",", title="people"),
    ]
    layers = [
        base.mark_rule(strokeWidth=7, opacity=0.38, color=MODEL, strokeCap="round").encode(
            x=rate_axis("low", axis, top=top), x2="high:Q", tooltip=tips
        ),
        base.mark_point(filled=True, size=75, opacity=1, color=MODEL).encode(
            x=rate_axis("value", axis, top=top), tooltip=tips
        ),
    ]
    if any(row.get("reference") is not None for row in rows):
        layers.append(
            base.mark_point(shape="diamond", size=70, opacity=1, color=OTHER, strokeWidth=2).encode(
                x=rate_axis("reference", axis, top=top),
                tooltip=[
                    alt.Tooltip("group:N"),
                    alt.Tooltip("reference:Q", format=".1%", title="plain logistic regression"),
                ],
            )
        )
    if limit is not None:
        rule = alt.Chart(data([{"limit": limit}]))
        layers.append(
            rule.mark_rule(strokeDash=[5, 4], strokeWidth=1.5, color=GREY).encode(x="limit:Q")
        )
    return finished(alt.layer(*layers), height=max(2, len(rows)) * ROW)


def differences(rows: Rows, *, axis: str) -> dict[str, Any]:
    """Draw numbers that may be negative, with their intervals, beside zero."""
    base = alt.Chart(data(rows)).encode(y=groups_axis())
    tips = [alt.Tooltip("group:N")]
    tips += [alt.Tooltip(f"{name}:Q", format=".4f") for name in ("value", "low", "high")]
    x = {"axis": alt.Axis(format="~g", tickCount=5, domain=False), "title": axis}
    layers = [
        base.mark_rule(strokeWidth=7, opacity=0.38, color=MODEL, strokeCap="round").encode(
            x=alt.X("low:Q", **x), x2="high:Q", tooltip=tips
        ),
        base.mark_point(filled=True, size=75, opacity=1, color=MODEL).encode(
            x=alt.X("value:Q", **x), tooltip=tips
        ),
        alt.Chart(data([{"zero": 0}])).mark_rule(color=GREY, strokeDash=[5, 4]).encode(x="zero:Q"),
    ]
    return finished(alt.layer(*layers), height=max(2, len(rows)) * ROW)


def score_shapes(rows: Rows, *, threshold: float, n_groups: int) -> dict[str, Any]:
    """Draw how the scores of every group are spread: ``group``, ``low``, ``high``, ``share``.

    The thickness is the share of the group's people per unit of score.
    """
    largest = max(row["density"] for row in rows)
    ends = [min(row["low"] for row in rows), max(row["high"] for row in rows)]
    axis = alt.Axis(tickCount=5, grid=True, domain=False)
    shapes = (
        alt.Chart(data(rows))
        .mark_bar(color=MODEL, opacity=0.75)
        .encode(
            y=groups_axis(),
            x=alt.X("low:Q", title="score", axis=axis, scale=alt.Scale(domain=ends)),
            x2="high:Q",
            size=alt.Size(
                "density:Q",
                scale=alt.Scale(domain=[0, largest], range=[0, ROW + 6], type="sqrt"),
                legend=None,
            ),
            tooltip=[
                alt.Tooltip("group:N"),
                alt.Tooltip("low:Q", format=".2f", title="score from"),
                alt.Tooltip("high:Q", format=".2f", title="to"),
                alt.Tooltip("share:Q", format=".1%", title="of the group"),
            ],
        )
    )
    rule = alt.Chart(data([{"threshold": threshold}]))
    line = rule.mark_rule(color=OTHER, strokeWidth=2, strokeDash=[5, 4]).encode(x="threshold:Q")
    return finished(alt.layer(shapes, line), height=max(2, n_groups) * (ROW + 10))


def stacked_errors(rows: Rows) -> dict[str, Any]:
    """Draw two error rates per group: ``group``, ``kind``, ``value``."""
    kinds = list(dict.fromkeys(row["kind"] for row in rows))
    n_groups = len({row["group"] for row in rows})
    top = min(1.0, 1.05 * max(row["value"] for row in rows))
    marks = (
        alt.Chart(data(rows))
        .mark_point(filled=True, size=80, opacity=1)
        .encode(
            y=groups_axis(),
            x=rate_axis("value", "decided wrongly", top=top),
            color=alt.Color(
                "kind:N", sort=None, title=None,
                scale=alt.Scale(domain=kinds, range=[MODEL, OTHER]),
                legend=alt.Legend(orient="bottom", direction="vertical", symbolOpacity=1),
            ),
            shape=alt.Shape("kind:N", sort=None, title=None,
                            scale=alt.Scale(domain=kinds, range=["circle", "diamond"])),
            tooltip=["group:N", "kind:N", alt.Tooltip("value:Q", format=".1%")],
        )
    )  # fmt: skip
    return finished(marks, height=max(2, n_groups) * ROW)
