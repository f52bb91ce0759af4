"""The page of a monitor: what holds now, and how it came to that, batch by batch."""

import os
from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from fairsmooth import _atomic
from fairsmooth.guarantees import GapMonitor
from fairsmooth.guarantees.monitor_words import lacking
from fairsmooth.guarantees.quantities import QUANTITIES
from fairsmooth.guarantees.rounding import ceiling, floor
from fairsmooth.reporting import by_group
from fairsmooth.reporting.charts.bundle import EXTRA, available, bundle
from fairsmooth.reporting.first_screen import FirstScreen, differ
from fairsmooth.reporting.guaranteed import LABELS
from fairsmooth.reporting.page import render, scripted, source
from fairsmooth.reporting.picture import Picture
from fairsmooth.reporting.selection import Selection
from fairsmooth.reporting.selection_words import selected_sentences
from fairsmooth.reporting.subject import Subject
from fairsmooth.reporting.wording import group_names, sure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from fairsmooth.reporting.charts.drawing import Drawn


def write_watch(
    path: str | os.PathLike[str],
    monitor: GapMonitor,
    *,
    title: str,
    notes: Sequence[str] = (),
    subject: Subject | None = None,
) -> None:
    """Write the state of a monitor as one HTML page, atomically."""
    page = render_watch(monitor, title=title, notes=notes, subject=subject)
    _atomic.write_bytes(path, page.encode())


def render_watch(
    monitor: GapMonitor,
    *,
    title: str,
    notes: Sequence[str] = (),
    subject: Subject | None = None,
    interactive: bool = True,
) -> str:
    """Return the page: status, one chart over time per limit, and the counts."""
    everybody = [
        (_label(cell["group"]), cell["rows"], cell["positive"])
        for cell in monitor.counts
        if cell["label"] is None
    ]
    # Whoever looks after every batch must not be shown intervals of one look.
    selection = Selection.of_counts(everybody, confidence=None)
    n_rows = sum(rows for _, rows, _ in everybody)
    context = {
        "title": title,
        "subject": subject or Subject(rows="rows watched", n_rows=n_rows),
        "status": monitor.status,
        "screen": _screen(monitor, selection),
        "picture": None if selection is None else Picture.of(selection),
        "confidence": "",
        "notes": notes,
        "counts": by_group.counts_table(_counts(monitor)),
        "batches": len(monitor.history),
    }
    drawn = interactive and available() and bool(monitor.history)
    if drawn:
        charts = _charts(monitor)
        data = {"charts": {chart.name: chart.spec for chart in charts}}
        context |= {**scripted([bundle(), source("report.js")], data), "charts": charts}
    else:
        context |= {**scripted([], {}), "charts": _still(monitor)}
    context["still"] = EXTRA if monitor.history and not drawn else ""
    return render("monitor.html", context)


def _label(group: Any) -> Hashable:
    return tuple(group) if isinstance(group, list) else group


def _counts(monitor: GapMonitor) -> list[tuple[str, str, int, int]]:
    cells = [cell for cell in monitor.counts if cell["rows"]]
    names = group_names(list(dict.fromkeys(_label(cell["group"]) for cell in cells)))
    return [
        (names[_label(c["group"])], LABELS[c["label"]], c["rows"], c["positive"]) for c in cells
    ]


def _screen(monitor: GapMonitor, selection: Selection | None) -> FirstScreen:
    """Say what a monitor can: how sure, and since when."""
    headline, *lines = str(monitor).splitlines()
    bounds = [_bounded(monitor, name) for name in monitor.limits]
    kept = monitor.status == "guaranteed"
    return FirstScreen(
        selected=tuple(selected_sentences(selection)),
        beside=(),
        guaranteed=(headline, *bounds) if kept else (),
        open=(
            *(() if kept else (headline, *bounds)),
            "If rates have moved since the first batch, bounds over all batches do not hold; the "
            "alarm restarts at every batch, to notice.",
            *monitor.notes,
        ),
        until="Bounds hold while rates stay what they were since "
        f"{monitor.since or 'the first batch'}. {lines[-1 - len(monitor.notes)]}",
        checked="Whoever has the batches can add them to a new state and must get the same counts.",
    )


def _bounded(monitor: GapMonitor, name: str) -> str:
    quantity, limit, bound = QUANTITIES[name], monitor.limits[name], monitor.bounds[name]
    if monitor.measured[name] is None:
        return f"Of {name.replace('_', ' ')} nothing is known yet: {lacking(monitor, name)}."
    if quantity.ratio:
        text = f"no group's selection rate is below {floor(bound)} times another's"
        return f"With {sure(monitor.confidence)} confidence, {text} (limit: at least {limit:g})."
    text = f"{differ(quantity)} at most {ceiling(bound)} (limit: at most {limit:g})"
    return f"With {sure(monitor.confidence)} confidence, {text}."


def _words(name: str) -> str:
    return name.replace("_", " ") + ("" if QUANTITIES[name].ratio else " gap")


def _charts(monitor: GapMonitor) -> "list[Drawn]":
    from fairsmooth.reporting.charts.drawing import Drawn
    from fairsmooth.reporting.charts.relations import over_time

    found = []
    for name, limit in monitor.limits.items():
        rows = [
            {"batch": number, "date": entry["date"], "measured": entry["measured"][name],
             "bound": entry["bounds"][name]}
            for number, entry in enumerate(monitor.history, start=1)
        ]  # fmt: skip
        ratio = QUANTITIES[name].ratio
        spec = over_time(rows, limit=limit, name=_words(name), ratio=ratio)
        caption = (
            "Over all batches so far. While the dashed line is on the right side of the grey one, "
            "the limit, it is guaranteed; a bound outside the frame is not drawn."
        )
        alt = f"{_words(name)} after {len(rows)} batches, limit {limit:g}."
        place = f"chart-{name.replace('_', '-')}"
        found.append(Drawn(place, _words(name).capitalize(), caption, alt, spec))
    return found


def _still(monitor: GapMonitor) -> list[Any]:
    if not monitor.history:
        return []
    from fairsmooth.reporting import figures
    from fairsmooth.reporting.still import Still

    caption = "A bound above the frame is not drawn."
    return [
        Still(_words(name).capitalize(), caption, Markup(figures.as_svg(chart(monitor, name))))
        for name in monitor.limits
    ]


def chart(monitor: GapMonitor, name: str) -> "Figure":
    """Draw one quantity after every batch, without a script."""
    from fairsmooth.reporting import figures

    history = monitor.history
    return figures.over_time(
        [entry["date"] for entry in history],
        [entry["measured"][name] for entry in history],
        [entry["bounds"][name] for entry in history],
        limit=monitor.limits[name],
        name=_words(name),
        ratio=QUANTITIES[name].ratio,
    )
