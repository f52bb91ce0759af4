"""Two models of one table, side by side: what opens the demonstration's report."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from fairsmooth.core.labels import group_text
from fairsmooth.core.outward import upper_text
from fairsmooth.guarantees.rounding import ceiling, floor
from fairsmooth.reporting.page import render
from fairsmooth.tables.fitting import Fitted


@dataclass(frozen=True)
class Chapter:
    """One model of the story.

    Attributes
    ----------
    name : str
        What it is called in the story.
    fitted : Fitted
    verdicts : tuple of str
        What verifying its file said, one line each.
    holds : bool
        Whether all of it holds.
    """

    name: str
    fitted: Fitted
    verdicts: tuple[str, ...]
    holds: bool


def story_rows(chapters: Sequence[Chapter]) -> list[list[str]]:
    """Return the table of the story: a row per question, a column per model."""
    return [list(row) for row in zip(_QUESTIONS, *map(_answers, chapters), strict=True)]


def render_story(opening: str, chapters: Sequence[Chapter], missing: str | None = None) -> Markup:
    """Return the story as a piece of HTML; ``missing`` says why there is no second model."""
    context = {
        "opening": opening,
        "names": [chapter.name for chapter in chapters],
        "rows": story_rows(chapters),
        "missing": missing,
    }
    return Markup(render("story.html", context))


def selected(fitted: Fitted) -> str:
    """Say how many people of every group are selected; groups of few people are left out."""
    shares = (
        f"{100 * row['selection_rate']:.1f} % of {group_text(_label(row['group']))}"
        for row in fitted.audit.summary()["groups"]
        if row["count"] >= _FEWEST
    )
    return ", ".join(shares)


_FEWEST = 10
_QUESTIONS = (
    "Who is selected",
    "Gap of selection rates, measured",
    "Gap of selection rates, guaranteed",
    "How far people may change before the limit could break",
    "Accuracy, measured",
    "Certificate: from one's own group's score at most",
    "Checked by independent code",
)


def _answers(chapter: Chapter) -> Iterator[str]:
    summary = chapter.fitted.audit.summary()
    yield selected(chapter.fitted)
    yield f"{summary['demographic_parity']:.4f}"
    yield from _guaranteed(chapter.fitted)
    yield f"{summary['accuracy']:.4f}"
    yield upper_text(summary["epsilon_tight"])
    yield " ".join(chapter.verdicts)


def _guaranteed(fitted: Fitted) -> tuple[str, str]:
    found = fitted.model.guarantee
    if found is None:
        return "nothing", "–"
    bound = ceiling(found.bounds["demographic_parity"])
    limit = found.limits["demographic_parity"]
    radius = floor(found.radius["total_variation"])
    return (
        f"at most {bound} ({100 * found.confidence:g} % confidence; limit {limit:g})",
        f"{radius} in total variation",
    )


def _label(group: object) -> object:
    return tuple(group) if isinstance(group, list) else group
