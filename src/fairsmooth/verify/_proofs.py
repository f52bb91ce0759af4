"""Proofs of one claim of a gap guarantee from its counts: of its bound, and of its radius."""

from fractions import Fraction
from itertools import permutations

from flint import arb

from fairsmooth.verify._binomial import Binomial
from fairsmooth.verify._pairs import Pair, Question
from fairsmooth.verify._scores import mean_interval
from fairsmooth.verify._shifts import Shift
from fairsmooth.verify._statement import QUANTITIES, Cell, Stated, Statement


def families_of(claim: Stated, cells: tuple[Cell, ...]) -> list[list[Cell]]:
    """Return, by label, the cells of all groups that a claim compares."""
    labels = QUANTITIES[claim.quantity][0]
    return [[c for c in cells if c.place == claim.place and c.label == label] for label in labels]


def proves_bound(
    statement: Statement, claim: Stated, cells: tuple[Cell, ...], value: float
) -> bool:
    """Tell whether the counts prove that a quantity keeps ``value``."""
    families = families_of(claim, cells)
    _, ratio, summed = QUANTITIES[claim.quantity]
    if _says_nothing(claim.quantity, value):
        return True
    if any(len(family) < 2 or any(c.rows == 0 for c in family) for family in families):
        return False
    shift = Shift(*statement.shift) if statement.shift else Shift()
    if not summed:
        asked = Question(ratio, shift, value)
        return all(_proves(statement, f, asked, statement.error) for f in families)
    parts = claim.parts or _split(statement, families, shift, value)
    within = arb(parts[0]) + arb(parts[1]) <= arb(value)
    return bool(within) and all(
        _proves_part(statement, family, shift, part)
        for family, part in zip(families, parts, strict=True)
    )


def _says_nothing(quantity: str, value: float) -> bool:
    """Tell whether every rule keeps a value: a gap of 1, a sum of gaps of 2, a ratio of 0."""
    _, ratio, summed = QUANTITIES[quantity]
    return value <= 0.0 if ratio else value >= (2.0 if summed else 1.0)


def _proves_part(statement: Statement, family: list[Cell], shift: Shift, gap: float) -> bool:
    """Prove one gap of a sum of two, at half the error."""
    asked = Question(False, shift, gap)
    return gap >= 1.0 or _proves(statement, family, asked, statement.error / 2)


def _split(
    statement: Statement, families: list[list[Cell]], shift: Shift, value: float
) -> tuple[float, ...]:
    """Split a sum that states no parts: the least first gap that is proved, and the rest."""
    low, high = 0.0, min(1.0, value)
    for _ in range(24):
        if high - low <= 1e-6:
            break
        middle = 0.5 * (low + high)
        proved = _proves_part(statement, families[0], shift, middle)
        low, high = (low, middle) if proved else (middle, high)
    return high, max(0.0, (value - high) * (1.0 - 2.0**-50))


def _proves(statement: Statement, family: list[Cell], asked: Question, error: Fraction) -> bool:
    if statement.scores:
        ends = [_score_ends(cell, error / 2) for cell in family]
        return all(asked.kept(a[1], b[0]) for a, b in permutations(ends, 2))
    cells = [Binomial(cell.positive, cell.rows) for cell in family]
    return all(Pair(a, b, error).proves(asked) for a, b in permutations(cells, 2))


def _score_ends(cell: Cell, error: Fraction) -> tuple[float, float]:
    assert cell.mean is not None
    return mean_interval(cell.rows, cell.mean, cell.variance, error)


def proves_radius(
    statement: Statement, claim: Stated, families: list[list[Cell]], divergence: str
) -> bool:
    """Tell whether the counts prove the radius of a claim in one divergence."""
    _, ratio, summed = QUANTITIES[claim.quantity]
    if _says_nothing(claim.quantity, claim.limit):
        return True  # no shift breaks such a limit
    asked = Question(ratio, Shift(divergence, float(claim.radius[divergence])), claim.limit)
    if summed:
        return _boxes_keep_sum(statement, families, asked)
    if statement.scores:
        return all(_proves(statement, family, asked, statement.error) for family in families)
    pairs = [
        Pair(Binomial(a.positive, a.rows), Binomial(b.positive, b.rows), statement.error)
        for family in families
        for a, b in permutations(family, 2)
    ]
    return all(pair.proves_radius(asked) for pair in pairs)


def _boxes_keep_sum(statement: Statement, families: list[list[Cell]], asked: Question) -> bool:
    """Prove the radius of a sum of gaps from boxes, which hold at every radius at once."""
    share = statement.error / 4
    total = arb(0)
    for family in families:
        ends = [
            _score_ends(c, share)
            if statement.scores
            else Binomial(c.positive, c.rows).interval(share)
            for c in family
        ]
        gaps = [asked.worst(a[1], b[0]) for a, b in permutations(ends, 2)]
        largest = arb(0)
        for gap in gaps:
            largest = largest.max(gap)
        total = total + largest
    return bool(total <= arb(asked.value))
