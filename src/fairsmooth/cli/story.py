"""What ``fairsmooth demo`` prints: a story in five short parts."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.table import Table
from rich.text import Text

from fairsmooth.cli.output import (
    print_certificate,
    print_lines,
    print_notes,
    print_summary,
    results,
)

if TYPE_CHECKING:
    from fairsmooth.reporting.story import Chapter
    from fairsmooth.tables.fitting import Fitted


def print_story(
    title: str, chapters: Sequence["Chapter"], *, forecast: str, missing: str | None
) -> None:
    """Print the parts one after the other."""
    paper, *others = [chapter.fitted for chapter in chapters]
    _part(1, f"The paper's model and its certificate: {title}")
    _print_model(paper)
    _part(2, "The gaps that it leaves")
    print_lines([_gap(paper)])
    print_summary(paper.summary())
    _part(3, "The same data, trained to a guarantee")
    print_lines([forecast] if forecast else [])
    for fitted in others:
        print_lines(str(fitted.model.guarantee).splitlines())
        print_lines([_gap(fitted)])
    print_lines([] if missing is None else [missing])
    _part(4, f"{'Both verified' if others else 'Verified'} by code that shares nothing with ours")
    for chapter in chapters:
        print_lines([f"{chapter.name}: {' '.join(chapter.verdicts)}"])
    _part(5, "Side by side")
    _print_side_by_side(chapters)


def _part(number: int, title: str) -> None:
    results.print(Text(f"\n{number}. {title}", style="bold"))


def _print_model(fitted: "Fitted") -> None:
    provenance = fitted.model.provenance
    assert provenance is not None  # it has just been trained on a table
    print_notes(provenance.notes)
    print_lines(provenance.lines())
    print_certificate(fitted.model.certificate)


def _gap(fitted: "Fitted") -> str:
    from fairsmooth.reporting.story import selected

    summary = fitted.audit.summary()
    ratio = summary["impact_ratio"]
    known = "" if ratio is None else f" (ratio {ratio:.2f}; the four-fifths rule asks for 0.8)"
    return (
        f"It selects {selected(fitted)}: a gap of {summary['demographic_parity']:.4f}{known}, "
        f"at accuracy {summary['accuracy']:.4f}."
    )


def _print_side_by_side(chapters: Sequence["Chapter"]) -> None:
    from fairsmooth.reporting.story import story_rows

    table = Table(show_lines=True)
    table.add_column("")
    for chapter in chapters:
        table.add_column(chapter.name)
    for question, *answers in story_rows(chapters):
        table.add_row(Text(question), *map(Text, answers))
    results.print(table)
