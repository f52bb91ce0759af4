"""The page of a monitor: what holds now, and how it came to that, batch by batch."""

import os
from collections.abc import Sequence

from markupsafe import Markup
from matplotlib.figure import Figure

import fairsmooth
from fairsmooth import _atomic
from fairsmooth.core.labels import group_text
from fairsmooth.guarantees import GapMonitor
from fairsmooth.guarantees.quantities import QUANTITIES
from fairsmooth.reporting import figures
from fairsmooth.reporting.page import render

_LABELS = {None: "everybody", 1: "positive", 0: "negative"}


def write_watch(
    path: str | os.PathLike[str], monitor: GapMonitor, *, title: str, notes: Sequence[str] = ()
) -> None:
    """Write the state of a monitor as one HTML page, atomically."""
    _atomic.write_bytes(path, render_watch(monitor, title=title, notes=notes).encode())


def render_watch(monitor: GapMonitor, *, title: str, notes: Sequence[str] = ()) -> str:
    """Return the page: status, one chart over time per limit, and the counts."""
    headline, *lines = str(monitor).splitlines()
    charts = [
        (name, Markup(figures.as_svg(chart(monitor, name))))
        for name in (monitor.limits if monitor.history else ())
    ]
    cells = [
        (group_text(cell["group"]), _LABELS[cell["label"]], cell["rows"], cell["positive"])
        for cell in monitor.counts
        if cell["rows"]
    ]
    context = {
        "title": title,
        "status": monitor.status,
        "headline": headline,
        "lines": [line.strip() for line in lines],
        "notes": notes,
        "charts": charts,
        "cells": cells,
        "batches": len(monitor.history),
        "version": fairsmooth.__version__,
    }
    return render("monitor.html", context)


def chart(monitor: GapMonitor, name: str) -> Figure:
    """Draw one quantity after every batch."""
    history = monitor.history
    return figures.over_time(
        [entry["date"] for entry in history],
        [entry["measured"][name] for entry in history],
        [entry["bounds"][name] for entry in history],
        limit=monitor.limits[name],
        name=name.replace("_", " ") + ("" if QUANTITIES[name].ratio else " gap"),
        ratio=QUANTITIES[name].ratio,
    )
