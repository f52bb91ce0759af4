"""One table model, two views: Markdown here, HTML in the templates."""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Cell:
    """A text, how it is set, and what is said of it when one asks.

    Attributes
    ----------
    text : str
        What is read.
    bold : bool
        Whether it stands out.
    style : str
        Name of a class of the page, such as ``printed``.
    title : str
        What a pointer over it shows.
    """

    text: str
    bold: bool = False
    style: str = ""
    title: str = ""


@dataclass(frozen=True)
class Table:
    """Rows of cells under one line of columns, or under two.

    Attributes
    ----------
    title : str
        Above the table.
    columns : tuple of str
        One name per column.
    rows : tuple of tuples of Cell
        As long as ``columns``.
    groups : tuple of (str, int)
        A second line above the columns: names and how many columns each spans.
    """

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    groups: tuple[tuple[str, int], ...] = ()

    def to_markdown(self) -> str:
        """Return the table as Markdown, both lines of names joined into one.

        Examples
        --------
        >>> print(Table("", ("a", "b"), ((Cell("x"), Cell("1", bold=True)),)).to_markdown())
        | a | b |
        |---|---|
        | x | **1** |
        """
        lines = [_line(self._joined_names()), "|" + "---|" * len(self.columns)]
        lines += [_line([_marked(cell) for cell in row]) for row in self.rows]
        return "\n".join(lines)

    def _joined_names(self) -> list[str]:
        above = [name for name, span in self.groups for _ in range(span)]
        if not above:
            return list(self.columns)
        pairs = zip(above, self.columns, strict=True)
        return [f"{first} {second}".strip() for first, second in pairs]


def _line(texts: Sequence[str]) -> str:
    return "| " + " | ".join(text.replace("|", "\\|") for text in texts) + " |"


def _marked(cell: Cell) -> str:
    return f"**{cell.text}**" if cell.bold and cell.text else cell.text
