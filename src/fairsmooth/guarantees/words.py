"""A guarantee as text: one true sentence each, rounded outward."""

from collections.abc import Iterator
from html import escape

from fairsmooth.core.labels import group_text
from fairsmooth.guarantees.claims import Claim
from fairsmooth.guarantees.guarantee import GapGuarantee
from fairsmooth.guarantees.quantities import QUANTITIES
from fairsmooth.guarantees.rounding import ceiling, floor

_DIVERGENCES = {
    "total_variation": "total variation",
    "hellinger": "Hellinger distance",
    "chi_square": "chi-square divergence",
    "density_ratio": "density ratio less 1",
}
_CONDITIONS = (
    "This needs: the rule, its threshold and everything fitted for it were fixed before the safety "
    "rows were looked at; rows are independent, one per person, picked by nothing but group "
    "(or, for rates among a label, by group and label); labels known only for some people "
    "guarantee only those. A rule that draws at random is judged by one recorded, independent "
    "draw per row.",
    "One set of safety rows answers one question once: whoever has seen this needs new rows for "
    "another model.",
)


def in_words(guarantee: GapGuarantee) -> Iterator[str]:
    """Yield the lines of the text."""
    if guarantee.attempt is not None:
        yield from _attempt(guarantee)
        return
    yield f"Gap guarantee: {'HOLDS' if guarantee.holds else 'DOES NOT HOLD'}."
    for claim in guarantee.claims:
        yield _sentence(guarantee, claim)
        if claim.holds:
            yield _radius(guarantee, claim)
    if len(guarantee.claims) > 1:
        yield (
            f"That all limits are kept has {_percent(guarantee)} confidence if all of them hold; "
            "each bound and each distance has it by itself, not all together."
        )
    yield from _CONDITIONS


def _attempt(guarantee: GapGuarantee) -> Iterator[str]:
    verdict = "PASSES" if guarantee.holds else "DOES NOT PASS"
    yield f"Gap guarantee, attempt {guarantee.attempt} of a declared series: {verdict}."
    limits = ", ".join(f"{name} {limit:g}" for name, limit in guarantee.limits.items())
    yield (
        f"Tested at error {ceiling(guarantee.error, 6)}, so that the whole series, from its first "
        f"try on, passes a rule that breaks its limits with probability at most "
        f"{ceiling(1.0 - guarantee.confidence, 6)}. Limits: {limits}."
    )
    yield "Bounds, rates and counts are withheld: whoever sees them has used the safety rows up."


def _sentence(guarantee: GapGuarantee, claim: Claim) -> str:
    expected = "expected " if guarantee.scores else ""
    start = f"With {_percent(guarantee)} confidence over the safety rows, {_where(claim)}"
    return f"{start}{_bounded(claim, expected)} in {_population(guarantee)} ({_verdict(claim)})."


def _bounded(claim: Claim, expected: str) -> str:
    quantity = QUANTITIES[claim.quantity]
    assert claim.bound is not None
    if quantity.ratio:
        return (
            f"the {expected}selection rate of no group is less than {floor(claim.bound)} times "
            "that of another"
        )
    return (
        f"the {expected}{quantity.words} of any two groups differ by at most {ceiling(claim.bound)}"
    )


def _population(guarantee: GapGuarantee) -> str:
    if guarantee.shift is None:
        return "the population they were drawn from"
    name, radius = guarantee.shift
    return (
        "every population in which the people of each cell differ from those they were drawn "
        f"from by at most {radius:g} in {_DIVERGENCES[name]}"
    )


def _verdict(claim: Claim) -> str:
    quantity = QUANTITIES[claim.quantity]
    limit = f"limit: at {'least' if quantity.ratio else 'most'} {claim.limit:g}"
    if claim.measured is None:
        return f"{quantity.lacking} here, so nothing is known; {limit}: does not hold"
    return f"measured {claim.measured:.4f}; {limit}: {'holds' if claim.holds else 'does not hold'}"


def _radius(guarantee: GapGuarantee, claim: Claim) -> str:
    radii = ", or ".join(
        f"{floor(radius)} in {_DIVERGENCES[name]}" for name, radius in claim.radius.items()
    )
    return (
        f"  The limit of {claim.limit:g} is still kept where the people of each cell differ by at "
        f"most {radii} ({_percent(guarantee)} confidence each). The mix of the groups may change "
        "at will."
    )


def _where(claim: Claim) -> str:
    parts = []
    if claim.stratum is not None:
        parts.append(f"in stratum {group_text(claim.stratum)} ")
    if claim.column is not None:
        parts.append(f"by {claim.column}, ")
    return "".join(parts)


def _percent(guarantee: GapGuarantee) -> str:
    return f"{100.0 * guarantee.confidence:.6g} %"


def in_html(guarantee: GapGuarantee) -> str:
    """Return a small table of claims, and the text below it."""
    text = "".join(f"<p>{escape(line)}</p>" for line in in_words(guarantee))
    if guarantee.attempt is not None:
        return f"<div>{text}</div>"
    rows = "".join(f"<tr>{''.join(_html_cells(c))}</tr>" for c in guarantee.claims)
    head = "".join(f"<th>{name}</th>" for name in ("quantity", "measured", "bound", "limit", ""))
    return f"<div><table><tr>{head}</tr>{rows}</table>{text}</div>"


def _html_cells(claim: Claim) -> Iterator[str]:
    quantity = QUANTITIES[claim.quantity]
    assert claim.bound is not None
    bound = floor(claim.bound) if quantity.ratio else ceiling(claim.bound)
    measured = "none" if claim.measured is None else f"{claim.measured:.4f}"
    place = [group_text(part) for part in (claim.column, claim.stratum) if part is not None]
    name = ", ".join([claim.quantity, *place])
    verdict = "holds" if claim.holds else "does not hold"
    for cell in (name, measured, bound, f"{claim.limit:g}", verdict):
        yield f"<td>{escape(cell)}</td>"
