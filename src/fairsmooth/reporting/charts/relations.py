"""Charts of one number against another."""

from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt

from fairsmooth.reporting.charts.drawing import (
    FOURTH,
    GREY,
    MODEL,
    OTHER,
    THIRD,
    data,
    finished,
)

Rows = Sequence[Mapping[str, Any]]
HEIGHT = 240
# Apart in hue and lightness, for those too who do not see red and green apart.
COLOURS = [MODEL, OTHER, THIRD, FOURTH, "var(--c5)", GREY]
MOST_COLOURS = len(COLOURS)
OTHERS = "other groups"
_GRID = {"grid": True, "domain": False, "tickCount": 5}


def _coloured(rows: Rows) -> Any:
    names = sorted(dict.fromkeys(row["who"] for row in rows), key=lambda name: name != OTHERS)
    colours = [GREY if name == OTHERS else COLOURS[i] for i, name in enumerate(names)]
    legend = alt.Legend(orient="bottom", direction="vertical", symbolOpacity=1)
    scale = alt.Scale(domain=names, range=colours)
    return alt.Color("who:N", sort=None, title=None, scale=scale, legend=legend)


def gaps_against_bound(sample: Rows, curve: Rows) -> dict[str, Any]:
    """Draw measured gaps of rows (``score``, ``gap``) below the bound (``score``, ``bound``)."""
    x = alt.X("score:Q", title="score", axis=alt.Axis(**_GRID), scale=alt.Scale(domain=[0, 1]))
    title = "distance to the score of the own classifier"
    bound = (
        alt.Chart(data(curve))
        .mark_line(strokeWidth=2, strokeDash=[5, 4], clip=True)
        .encode(x=x, y=alt.Y("bound:Q", title=title), color=_coloured(curve), detail="group:N")
    )
    dots = (
        alt.Chart(data(sample))
        .mark_point(filled=True, size=26, opacity=0.6)
        .encode(
            x=x,
            y=alt.Y("gap:Q", title=title, axis=alt.Axis(format="~g", **_GRID)),
            color=_coloured(curve),
            tooltip=[
                "group:N",
                alt.Tooltip("score:Q", format=".2f"),
                alt.Tooltip("gap:Q", format=".5f"),
            ],
        )
    )
    return finished(alt.layer(bound, dots), height=HEIGHT)


def calibration(rows: Rows) -> dict[str, Any]:
    """Draw the share that is truly positive (``share``, ``low``, ``high``) against the score."""
    ends = alt.Scale(domain=[0, 1])
    x = alt.X("score:Q", title="mean score of the bin", axis=alt.Axis(**_GRID), scale=ends)
    axis = alt.Axis(format="~%", **_GRID)
    y = alt.Y("share:Q", title="truly positive", axis=axis, scale=ends)
    base = alt.Chart(data(rows)).encode(x=x, color=_coloured(rows))
    diagonal = data([{"score": 0, "share": 0}, {"score": 1, "share": 1}])
    tips = ["group:N", alt.Tooltip("score:Q", format=".2f")]
    tips += [alt.Tooltip(f"{name}:Q", format=".1%") for name in ("share", "low", "high")]
    tips.append(alt.Tooltip("rows:Q", format=",", title="people"))
    return finished(
        alt.layer(
            alt.Chart(diagonal).mark_line(color=GREY, strokeDash=[5, 4]).encode(x=x, y=y),
            base.mark_line(strokeWidth=1.5, opacity=0.7).encode(y=y, detail="group:N"),
            base.mark_rule(strokeWidth=1.5, opacity=0.5).encode(y="low:Q", y2="high:Q"),
            base.mark_point(filled=True, size=45, opacity=1).encode(y=y, tooltip=tips),
        ),
        height=HEIGHT,
    )


def history(rows: Rows) -> dict[str, Any]:
    """Draw the objective after every step of training: ``step``, ``objective``."""
    line = (
        alt.Chart(data(rows))
        .mark_line(color=MODEL, strokeWidth=2, point=alt.OverlayMarkDef(color=MODEL, size=18))
        .encode(
            x=alt.X("step:Q", title="iteration or epoch", axis=alt.Axis(format="d", **_GRID)),
            y=alt.Y(
                "objective:Q",
                title="objective (loss per row, and the tie)",
                axis=alt.Axis(**_GRID),
                scale=alt.Scale(zero=False),
            ),
            tooltip=["step:Q", alt.Tooltip("objective:Q", format=".5f")],
        )
    )
    return finished(line, height=HEIGHT)


def front(rows: Rows, *, gap: str, limit: float | None) -> dict[str, Any]:
    """Draw accuracy against a gap: ``gap``, ``accuracy``, their intervals, ``kind``, ``name``."""
    kinds = list(dict.fromkeys(row["kind"] for row in rows))
    look = {
        "chosen": (OTHER, "circle"), "front": (MODEL, "circle"), "other trial": (GREY, "cross"),
        "without parity term": (THIRD, "square"), "peer": (FOURTH, "diamond"),
    }  # fmt: skip
    shown = [row for row in rows if row["kind"] != "other trial"] or list(rows)
    ends = [min(r["accuracy_low"] for r in shown), max(r["accuracy_high"] for r in shown)]
    axis = alt.Axis(format="~%", **_GRID)
    framed = alt.Scale(domain=ends, nice=True, zero=False)
    y = alt.Y("accuracy:Q", title="accuracy", axis=axis, scale=framed)
    right = 1.1 * max([r["gap"] for r in shown] + ([] if limit is None else [limit]))
    width = alt.Scale(domain=[0, right])
    x = alt.X("gap:Q", title=gap, axis=alt.Axis(**_GRID), scale=width)
    scale = {"domain": kinds}
    colour = alt.Color(
        "kind:N", sort=None, title=None,
        legend=alt.Legend(orient="bottom", columns=2, symbolOpacity=1),
        scale=alt.Scale(range=[look[kind][0] for kind in kinds], **scale),
    )  # fmt: skip
    shape = alt.Shape(
        "kind:N", sort=None, title=None,
        scale=alt.Scale(range=[look[kind][1] for kind in kinds], **scale),
    )  # fmt: skip
    base = alt.Chart(data(rows)).encode(color=colour)
    tips = ["name:N", "kind:N", alt.Tooltip("accuracy:Q", format=".4f")]
    tips.append(alt.Tooltip("gap:Q", format=".4f"))
    # Every layer states the frame: one that does not would stretch it to zero.
    low = alt.Y("accuracy_low:Q", title="accuracy", axis=axis, scale=framed)
    left = alt.X("gap_low:Q", title=gap, scale=width)
    layers = [
        base.mark_rule(opacity=0.35, clip=True).encode(x=x, y=low, y2="accuracy_high:Q"),
        base.mark_rule(opacity=0.35, clip=True).encode(y=y, x=left, x2="gap_high:Q"),
        base.mark_point(filled=True, size=60, opacity=1, clip=True).encode(
            x=x, y=y, shape=shape, tooltip=tips
        ),
    ]
    if limit is not None:
        rule = alt.Chart(data([{"limit": limit}]))
        layers.append(rule.mark_rule(color=GREY, strokeDash=[5, 4]).encode(x="limit:Q"))
    return finished(alt.layer(*layers), height=HEIGHT + 40)


def over_time(rows: Rows, *, limit: float, name: str, ratio: bool) -> dict[str, Any]:
    """Draw what was measured and what is bounded after every batch, with the limit."""
    known = [row["measured"] for row in rows if row["measured"] is not None]
    top = 1.0 if ratio else max(0.01, 2.5 * limit, 1.25 * max(known, default=0.0))
    axis = alt.Axis(format="d", tickMinStep=1, **_GRID)
    x = alt.X("batch:Q", title="batch", axis=axis, scale=alt.Scale(domain=[0.5, len(rows) + 0.5]))
    scale = alt.Scale(domain=[0, top])
    base = alt.Chart(data(rows)).encode(x=x)
    side = "surely at least" if ratio else "surely at most"
    kinds = alt.Scale(domain=["measured", side], range=[MODEL, OTHER])
    tips = ["batch:Q", "date:N", alt.Tooltip("measured:Q", format=".4f")]
    tips.append(alt.Tooltip("bound:Q", format=".4f", title=side))
    colour = alt.Color("kind:N", sort=None, title=None, scale=kinds,
                       legend=alt.Legend(orient="bottom"))  # fmt: skip
    layers = []
    for column, kind, dash in (("measured", "measured", [1, 0]), ("bound", side, [5, 4])):
        y = alt.Y(f"{column}:Q", title=name, scale=scale, axis=alt.Axis(**_GRID))
        line = base.transform_calculate(kind=f"'{kind}'").mark_line(
            clip=True, strokeWidth=2, strokeDash=dash, point=alt.OverlayMarkDef(size=30)
        )
        layers.append(line.encode(y=y, color=colour, tooltip=tips))
    rule = alt.Chart(data([{"limit": limit}]))
    layers.append(rule.mark_rule(color=GREY, strokeWidth=2).encode(y="limit:Q"))
    return finished(alt.layer(*layers), height=HEIGHT)
