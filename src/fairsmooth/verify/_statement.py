"""Reading a guarantee that is not trusted, and what must agree within it."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from fairsmooth.exceptions import InputError

DIVERGENCES = ("total_variation", "hellinger", "chi_square", "density_ratio")
# Labels compared; whether it is a ratio; whether gaps are added up.
QUANTITIES: dict[str, tuple[tuple[int | None, ...], bool, bool]] = {
    "demographic_parity": ((None,), False, False),
    "equal_opportunity": ((1,), False, False),
    "predictive_equality": ((0,), False, False),
    "equalized_odds_max": ((1, 0), False, False),
    "equalized_odds_sum": ((1, 0), False, True),
    "impact_ratio": ((None,), True, False),
}
_KEYS = {
    "format", "version", "holds", "confidence", "limits", "bounds", "measured", "radius", "shift",
    "attempt", "scores", "claims", "counts", "provenance",
}  # fmt: skip
_CLAIM_KEYS = {
    "quantity", "limit", "bound", "measured", "radius", "holds", "parts", "column", "stratum",
}  # fmt: skip
_COUNT_KEYS = {"group", "label", "rows", "positive", "mean", "variance", "column", "stratum"}
_MOST_CELLS = 10_000
_MOST_ROWS = 10**9
_LARGEST_RADIUS = 1e6


@dataclass(frozen=True)
class Cell:
    """One cell of the counts."""

    place: str
    group: str
    label: int | None
    rows: int
    positive: int
    mean: float | None
    variance: float | None


@dataclass(frozen=True)
class Stated:
    """One claim, as stated."""

    quantity: str
    place: str
    limit: float
    bound: float | None
    measured: float | None
    radius: Mapping[str, float]
    holds: bool | None
    parts: tuple[float, ...]
    key: str

    @property
    def name(self) -> str:
        """What to call it in a line of text."""
        return f"{self.quantity}{' ' + self.place if self.place else ''}"


@dataclass(frozen=True)
class Statement:
    """A guarantee whose form is right; nothing else is known of it yet."""

    plain: Mapping[str, Any]
    confidence: float
    shift: tuple[str, float] | None
    attempt: int | None
    scores: bool
    holds: bool
    claims: tuple[Stated, ...]
    cells: tuple[Cell, ...] | None

    @property
    def error(self) -> Fraction:
        """The error of each test, exactly."""
        error = 1 - Fraction(self.confidence)
        return error if self.attempt is None else error / (self.attempt * (self.attempt + 1))


def read_statement(plain: Any) -> Statement:
    """Return what a plain guarantee states, or say what is wrong with its form."""
    _require(isinstance(plain, Mapping) and set(plain) == _KEYS, "the keys of a guarantee")
    _require(plain["format"] == "fairsmooth-gap-guarantee", "the format of a gap guarantee")
    _require(_whole(plain["version"], 1, 1), "version 1")
    _require(_number(plain["confidence"], 0.5, 1.0) and plain["confidence"] < 1, "a confidence")
    _require(plain["attempt"] is None or _whole(plain["attempt"], 1, 10**6), "a try number")
    _require(all(isinstance(plain[k], bool) for k in ("holds", "scores")), "true or false")
    claims = plain["claims"]
    _require(_listed(claims) and 0 < len(claims) <= _MOST_CELLS, "a list of claims")
    counts = plain["counts"]
    stated = tuple(_claim(c, shown=plain["attempt"] is None) for c in claims)
    _require(len({(c.quantity, c.place) for c in stated}) == len(stated), "every claim once")
    return Statement(
        plain=plain,
        confidence=float(plain["confidence"]),
        shift=_shift(plain["shift"]),
        attempt=plain["attempt"],
        scores=plain["scores"],
        holds=plain["holds"],
        claims=stated,
        cells=None if counts is None else read_cells(counts, scores=plain["scores"]),
    )


def read_cells(counts: Any, *, scores: bool) -> tuple[Cell, ...]:
    """Return the cells of a list of counts, checked for what must agree within them."""
    _require(_listed(counts) and 0 < len(counts) <= _MOST_CELLS, "a list of counts")
    cells = tuple(_cell(count, scores=scores) for count in counts)
    _require(len({(c.place, c.group, c.label) for c in cells}) == len(cells), "every cell once")
    _require_sums(cells)
    return cells


def _require_sums(cells: Sequence[Cell]) -> None:
    """Require the two labels of a group to add up to everybody in it."""
    groups: dict[tuple[str, str], dict[int | None, Cell]] = {}
    for cell in cells:
        groups.setdefault((cell.place, cell.group), {})[cell.label] = cell
    by_place: dict[str, set[frozenset[int | None]]] = {}
    for (place, _), found in groups.items():
        by_place.setdefault(place, set()).add(frozenset(found))
        _require(None in found and len(found) in (1, 3), "everybody, or both labels too")
        if len(found) == 3:
            for name in ("rows", "positive"):
                parts = sum(getattr(found[label], name) for label in (0, 1))
                _require(parts == getattr(found[None], name), "labels that add up to everybody")
    _require(all(len(kinds) == 1 for kinds in by_place.values()), "the same cells in every group")


def _cell(count: Any, *, scores: bool) -> Cell:
    _require(isinstance(count, Mapping) and set(count) == _COUNT_KEYS, "the keys of a count")
    rows, positive = count["rows"], count["positive"]
    _require(_whole(rows, 0, _MOST_ROWS) and _whole(positive, 0, rows), "0 <= positive <= rows")
    _require(count["label"] is None or _whole(count["label"], 0, 1), "a label 0, 1 or null")
    mean, variance = count["mean"], count["variance"]
    if scores:
        _require(positive == 0, "no decisions among scores")
        _require(mean is None if rows == 0 else _number(mean, 0.0, 1.0), "a mean score")
        fits = variance is None if rows < 2 else _number(variance, 0.0, 0.5)
        _require(fits, "a variance of scores")
    else:
        _require(mean is None and variance is None, "no scores among decisions")
    place = _place(count["column"], count["stratum"])
    return Cell(place, repr(count["group"]), count["label"], rows, positive, mean, variance)


def _claim(claim: Any, *, shown: bool) -> Stated:
    _require(isinstance(claim, Mapping) and set(claim) == _CLAIM_KEYS, "the keys of a claim")
    name, column = claim["quantity"], claim["column"]
    _require(isinstance(name, str) and name in QUANTITIES, "a known quantity")
    _require(column is None or isinstance(column, str), "a column name")
    largest = 2.0 if QUANTITIES[name][2] else 1.0
    _require(_number(claim["limit"], 0.0, largest), f"a limit of {name}")
    radius, parts = claim["radius"], claim["parts"]
    _require(isinstance(radius, Mapping), "radii by divergence")
    _require(_listed(parts) and len(parts) in (0, 2), "no parts, or two")
    _require(all(_number(part, 0.0, 1.0) for part in parts), "gaps as parts")
    if shown:
        _require(isinstance(claim["holds"], bool), "true or false")
        _require(_number(claim["bound"], 0.0, largest * (1 + 1e-9)), f"a bound of {name}")
        measured = claim["measured"]
        _require(measured is None or _number(measured, 0.0, largest), "a measured value")
        fits = set(radius) == set(DIVERGENCES)
        _require(
            fits and all(_number(r, 0.0, _LARGEST_RADIUS) for r in radius.values()),
            "a radius for each divergence",
        )
    else:
        hidden = [claim[key] for key in ("bound", "measured", "holds")]
        silent = hidden == [None] * 3 and not radius and not parts
        _require(silent, "nothing but pass or fail in a series")
    return Stated(
        quantity=name,
        place=_place(column, claim["stratum"]),
        limit=claim["limit"],
        bound=claim["bound"],
        measured=claim["measured"],
        radius=radius,
        holds=claim["holds"],
        parts=tuple(claim["parts"]),
        key=name if column is None else f"{column}:{name}",
    )


def _shift(shift: Any) -> tuple[str, float] | None:
    if shift is None:
        return None
    _require(_listed(shift) and len(shift) == 2 and shift[0] in DIVERGENCES, "a known divergence")
    _require(_number(shift[1], 0.0, _LARGEST_RADIUS), "a radius of the shift")
    return shift[0], float(shift[1])


def _place(column: Any, stratum: Any) -> str:
    parts = [f"by {column}"] if column is not None else []
    parts += [f"in stratum {stratum!r}"] if stratum is not None else []
    return " ".join(parts)


def _require(fits: bool, expected: str) -> None:
    if not fits:
        raise InputError(f"Expected {expected}, got something else.")


def _listed(value: Any) -> bool:
    return isinstance(value, list | tuple)


def _whole(value: Any, low: int, high: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and low <= value <= high


def _number(value: Any, low: float, high: float) -> bool:
    plain = isinstance(value, int | float) and not isinstance(value, bool)
    return plain and math.isfinite(value) and low <= value <= high
