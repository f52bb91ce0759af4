"""A gap guarantee again, from its counts, by code that shares nothing with the first."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from fairsmooth.exceptions import InputError
from fairsmooth.verify._proofs import families_of, proves_bound, proves_radius
from fairsmooth.verify._statement import (
    DIVERGENCES,
    QUANTITIES,
    Cell,
    Stated,
    Statement,
    read_cells,
    read_statement,
)
from fairsmooth.verify.check import Check, undecided
from fairsmooth.verify.verification import Verification

_MEASURED = Fraction(1, 10**9)
# A file of a megabyte may ask for a hundred million proofs; so many take some minutes.
_MOST_PAIRS = 1_000_000
# Terms of tail probabilities: proving interval ends takes their number, not that of pairs. Two
# groups of 10^9 rows each need 2e11, a quarter of an hour.
_MOST_TERMS = 3e11
_ALWAYS_TRUSTED = (
    "that the rule, threshold and everything fitted for it were fixed before the rows were seen",
    "that rows are independent, one per person, picked by nothing but group (and label)",
    "that these rows answered one question once, or that the series was declared from its start",
)


@dataclass(frozen=True)
class GuaranteeVerification(Verification):
    """The outcome of :func:`verify_guarantee`.

    Attributes
    ----------
    checks : tuple of Check
        What was checked, in order.
    trusted : tuple of str
        What no check can show, and was taken on trust.
    """

    trusted: tuple[str, ...]

    def __str__(self) -> str:
        """Return one line per check, and one per thing taken on trust."""
        lines = [str(check) for check in self.checks]
        return "\n".join(lines + [f"trust {what}" for what in self.trusted])


def verify_guarantee(
    plain: Mapping[str, Any], *, counts: Sequence[Mapping[str, Any]] | None = None
) -> GuaranteeVerification:
    r"""Confirm a gap guarantee from its counts.

    Every bound is proved again: for each ordered pair of groups the rates that are worse than the
    bound lie below a staircase, and the p-value at each of its corners must not exceed
    :math:`\delta - \beta`. The p-values are summed from probabilities that ball arithmetic
    encloses; Clopper-Pearson ends are proved from both sides. A radius is proved likewise, in its
    own order of samples. Nothing of the library is used but its exceptions.

    Parameters
    ----------
    plain : mapping
        As written by ``GapGuarantee.to_dict``, or the same from JSON.
    counts : sequence of mapping, optional
        The counts again, in the form of ``plain["counts"]``, from somebody who has the rows.
        Without them the counts of the guarantee are taken on trust.

    Returns
    -------
    GuaranteeVerification
        Never an error: what cannot be read does not hold. A series of attempts withholds its
        counts: without ``counts`` it is ``undecided``, neither holding nor refuted.

    Examples
    --------
    >>> print(verify_guarantee({}))
    FAILS form: Expected the keys of a guarantee, got something else.
    """
    try:
        statement = read_statement(plain)
        recounted = None if counts is None else read_cells(counts, scores=statement.scores)
    except (InputError, TypeError, ValueError, OverflowError, RecursionError) as error:
        return GuaranteeVerification((Check("form", False, str(error)),), ())
    trusted = list(_ALWAYS_TRUSTED)
    if recounted is None:
        trusted.insert(0, "that the counts are those of the safety rows: check with the rows")
    if statement.plain["provenance"]:
        trusted.append("digests, dates and other facts of its provenance")
    return GuaranteeVerification(tuple(_checks(statement, recounted)), tuple(trusted))


def _checks(statement: Statement, recounted: tuple[Cell, ...] | None) -> Iterator[Check]:
    yield Check("form", True, f"{len(statement.claims)} claims, confidence {statement.confidence}")
    if statement.attempt is not None:
        yield _series_summary(statement)
    if statement.cells is None and recounted is None:
        yield _without_counts(statement)
        return
    if statement.attempt is not None and statement.cells is not None:
        yield Check("counts", False, "Expected no counts in a series of attempts, got some.")
        return
    if statement.cells is not None and recounted is not None:
        same = set(statement.cells) == set(recounted)
        detail = "are those of the rows" if same else "Expected those of the rows, got others."
        yield Check("counts", same, detail)
    cells = recounted if recounted is not None else statement.cells
    assert cells is not None
    if (pairs := _pairs(statement, cells)) > _MOST_PAIRS:
        yield Check("work", False, f"Expected at most {_MOST_PAIRS} pairs of groups, got {pairs}.")
        return
    if (terms := _terms(statement, cells)) > _MOST_TERMS:
        detail = "Expected fewer rows, or fewer groups of so many,"
        yield Check("work", False, f"{detail} got {terms:.2g} terms of {_MOST_TERMS:.2g} to add.")
        return
    if statement.attempt is not None:
        yield _series(statement, cells)
        return
    yield _summary(statement)
    for claim in statement.claims:
        yield from _claim_checks(statement, claim, cells)


def _pairs(statement: Statement, cells: tuple[Cell, ...]) -> int:
    """Return how many ordered pairs of groups all claims compare."""
    sizes = Counter((cell.place, cell.label) for cell in cells)
    places = [(c.place, label) for c in statement.claims for label in QUANTITIES[c.quantity][0]]
    return sum(sizes[place] * (sizes[place] - 1) for place in places)


def _terms(statement: Statement, cells: tuple[Cell, ...]) -> float:
    """Return how many terms of tail probabilities all pairs of all claims take, roughly.

    A window has 24 standard deviations of counts, and each count's tail 8 of them.
    """
    if statement.scores:
        return 0.0
    spent: Counter[tuple[str, int | None]] = Counter()
    sizes = Counter((cell.place, cell.label) for cell in cells)
    for cell in cells:
        variance = cell.positive * (cell.rows - cell.positive) / max(cell.rows, 1)
        others = sizes[cell.place, cell.label] - 1
        spent[cell.place, cell.label] += round(2 * others * 24 * 8 * variance)
    places = [(c.place, label) for c in statement.claims for label in QUANTITIES[c.quantity][0]]
    return float(sum(spent[place] for place in places))


def _without_counts(statement: Statement) -> Check:
    if statement.attempt is None:
        return Check("counts", False, "Expected counts: only a series of attempts withholds them.")
    if not statement.holds:
        return _claims_nothing(statement)
    return undecided(
        "counts",
        f"withheld, as in every series of attempts, so that try {statement.attempt} shows nothing "
        "but pass or fail; it can be tested again only with the safety rows.",
    )


def _claims_nothing(statement: Statement) -> Check:
    return Check("series", True, f"try {statement.attempt} claims nothing: it did not pass")


def _series(statement: Statement, cells: tuple[Cell, ...]) -> Check:
    """Redo the test of one try: every limit itself must be proved."""
    if not statement.holds:
        return _claims_nothing(statement)
    for claim in statement.claims:
        if not proves_bound(statement, claim, cells, claim.limit):
            return Check(
                "series", False, f"Expected {claim.name} within {claim.limit}, not proved."
            )
    return Check(
        "series", True, f"try {statement.attempt} passes at error {float(statement.error):.3g}"
    )


def _series_summary(statement: Statement) -> Check:
    """Compare what stands at the top of a try with its claims, which alone are tested."""
    limits = {claim.key: claim.limit for claim in statement.claims}
    for name, value in {"limits": limits, "bounds": {}, "measured": {}, "radius": {}}.items():
        if statement.plain[name] != value:
            detail = f"Expected {name} {value!r}, got {statement.plain[name]!r}."
            return Check("summary", False, detail)
    return Check("summary", True, "limits agree, and nothing else is told")


def _summary(statement: Statement) -> Check:
    """Compare what stands at the top with the claims that it comes from."""
    plain, claims = statement.plain, statement.claims
    worst: dict[str, dict[str, Any]] = {"limits": {}, "bounds": {}, "measured": {}}
    for claim in claims:
        pick = min if claim.quantity == "impact_ratio" else max
        _gather(worst["limits"], claim.key, claim.limit, pick)
        _gather(worst["bounds"], claim.key, claim.bound, pick)
        _gather(worst["measured"], claim.key, claim.measured, pick)
    worst["radius"] = {d: min(claim.radius[d] for claim in claims) for d in DIVERGENCES}
    worst["holds"] = all(claim.holds for claim in claims)  # type: ignore[assignment]
    for name, value in worst.items():
        if plain[name] != value:
            return Check("summary", False, f"Expected {name} {value!r}, got {plain[name]!r}.")
    return Check("summary", True, "limits, bounds, measured values, radii and verdict agree")


def _gather(found: dict[str, Any], key: str, value: Any, pick: Any) -> None:
    if key in found and (value is None or found[key] is None):
        found[key] = None
    else:
        found[key] = pick(found[key], value) if key in found else value


def _claim_checks(statement: Statement, claim: Stated, cells: tuple[Cell, ...]) -> Iterator[Check]:
    families = families_of(claim, cells)
    if any(len(family) < 2 for family in families):
        yield Check(claim.name, False, "Expected counts of two groups or more, got fewer.")
        return
    ratio = QUANTITIES[claim.quantity][1]
    empty = any(cell.rows == 0 for family in families for cell in family)
    assert claim.bound is not None
    kept = claim.bound >= claim.limit if ratio else claim.bound <= claim.limit
    if claim.holds != (kept and not empty):
        yield Check(claim.name, False, "Expected a verdict that follows from bound and limit.")
        return
    if not _measured_agrees(statement, claim, families, empty):
        yield Check(claim.name, False, f"Expected the counts' value, got {claim.measured!r}.")
        return
    proved = proves_bound(statement, claim, cells, claim.bound)
    side = "at least" if ratio else "at most"
    detail = (
        f"{side} {claim.bound!r}"
        if proved
        else f"Expected a bound that the counts prove, got {claim.bound!r}."
    )
    yield Check(claim.name, proved, detail)
    yield _radius_check(statement, claim, families, empty)


def _rate(cell: Cell, *, scores: bool) -> Fraction:
    return Fraction(cell.mean or 0.0) if scores else Fraction(cell.positive, cell.rows)


def _measured_agrees(
    statement: Statement, claim: Stated, families: list[list[Cell]], empty: bool
) -> bool:
    if empty or claim.measured is None:
        return empty and claim.measured is None
    _, ratio, summed = QUANTITIES[claim.quantity]
    values = []
    for family in families:
        rates = [_rate(cell, scores=statement.scores) for cell in family]
        most, least = max(rates), min(rates)
        values.append((least / most if most else Fraction(1)) if ratio else most - least)
    value = sum(values) if summed else max(values)
    return abs(value - Fraction(claim.measured)) <= _MEASURED


def _radius_check(
    statement: Statement, claim: Stated, families: list[list[Cell]], empty: bool
) -> Check:
    name = f"{claim.name}, radius"
    for divergence in DIVERGENCES:
        radius = float(claim.radius[divergence])
        # A radius of 0 says nothing.
        if radius > 0.0 and (empty or not proves_radius(statement, claim, families, divergence)):
            return Check(
                name,
                False,
                f"Expected a radius that the counts prove, got {radius!r} in {divergence}.",
            )
    return Check(name, True, ", ".join(f"{d} {claim.radius[d]:.4g}" for d in DIVERGENCES))
