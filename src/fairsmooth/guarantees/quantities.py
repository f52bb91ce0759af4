"""The quantities people set limits on, as maxima of contrasts between cells."""

from dataclasses import dataclass

# Cells of everybody in a group, and of those with each label.
EVERYBODY = None
POSITIVE, NEGATIVE = 1, 0


@dataclass(frozen=True)
class Quantity:
    """One quantity.

    Attributes
    ----------
    name : str
        As users spell it.
    labels : tuple
        The cells that are compared: those of everybody (``None``), or those with a label.
    words : str
        What differs between two groups, for the text.
    ratio : bool
        Whether it is a ratio bounded below rather than a gap bounded above.
    summed : bool
        Whether the gaps of several labels are added up rather than the largest taken.
    """

    name: str
    labels: tuple[int | None, ...]
    words: str
    ratio: bool = False
    summed: bool = False

    @property
    def largest(self) -> float:
        """The largest value there is."""
        return float(len(self.labels)) if self.summed else 1.0

    @property
    def worst(self) -> float:
        """What is said when nothing is known."""
        return 0.0 if self.ratio else self.largest

    @property
    def lacking(self) -> str:
        """What keeps it from being measured, where something does."""
        words = {
            EVERYBODY: "",
            POSITIVE: " with a positive label",
            NEGATIVE: " with a negative label",
        }
        return "a group has no rows" + ", or none".join(words[label] for label in self.labels)

    def within(self, bound: float, limit: float) -> bool:
        """Tell whether a bound keeps a limit."""
        return bound >= limit if self.ratio else bound <= limit

    def combine(self, values: list[float]) -> float:
        """Combine the gaps of all labels, or take the only ratio."""
        return sum(values) if self.summed else max(values)


QUANTITIES = {
    quantity.name: quantity
    for quantity in (
        Quantity("demographic_parity", (EVERYBODY,), "selection rates"),
        Quantity("equal_opportunity", (POSITIVE,), "true positive rates"),
        Quantity("predictive_equality", (NEGATIVE,), "false positive rates"),
        Quantity(
            "equalized_odds_max", (POSITIVE, NEGATIVE), "true positive rates, and false ones,"
        ),
        Quantity(
            "equalized_odds_sum",
            (POSITIVE, NEGATIVE),
            "true positive rates, plus what any two groups' false ones differ by,",
            summed=True,
        ),
        Quantity("impact_ratio", (EVERYBODY,), "selection rates", ratio=True),
    )
}
