"""The first screen in words: who is selected less, by how much, how sure, what is guaranteed,
until when, who checks it.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from fairsmooth.core.certificate import Certificate
from fairsmooth.core.outward import upper_text
from fairsmooth.guarantees import GapGuarantee
from fairsmooth.guarantees.claims import Claim
from fairsmooth.guarantees.quantities import QUANTITIES, Quantity
from fairsmooth.guarantees.rounding import ceiling, floor
from fairsmooth.reporting.selection import Selection
from fairsmooth.reporting.selection_words import beside_sentences, selected_sentences
from fairsmooth.reporting.subject import Subject
from fairsmooth.reporting.wording import SIGN, listed, sure


@dataclass(frozen=True)
class FirstScreen:
    """Sentences, in the order in which they are read."""

    selected: tuple[str, ...]
    beside: tuple[str, ...]
    guaranteed: tuple[str, ...]
    open: tuple[str, ...]
    until: str
    checked: str

    @classmethod
    def of(
        cls,
        selection: Selection | None,
        certificate: Certificate | None,
        guarantee: GapGuarantee | None,
        subject: Subject,
    ) -> "FirstScreen":
        """Say everything that is known, and what is not."""
        return cls(
            tuple(selected_sentences(selection)),
            tuple(beside_sentences(selection)),
            (*_gap_guaranteed(guarantee), *_certified(certificate)),
            (*_gap_open(guarantee, selection), *_certificate_open(certificate)),
            _until(certificate, guarantee),
            _checked(subject, certificate, guarantee),
        )


def _gap_guaranteed(guarantee: GapGuarantee | None) -> Iterator[str]:
    if guarantee is None:
        return
    if guarantee.attempt is not None:
        verdict = "passes" if guarantee.holds else "does not pass"
        limits = ", ".join(f"{n.replace('_', ' ')} {v:g}" for n, v in guarantee.limits.items())
        yield (
            f"Attempt {guarantee.attempt} of a declared series {verdict} its limits ({limits}); a "
            f"series as a whole is wrong with probability at most "
            f"{ceiling(1.0 - guarantee.confidence, 6)}. Rates and bounds are withheld."
        )
        return
    for claim in guarantee.claims:
        yield f"With {sure(guarantee.confidence)} confidence, {_bounded(guarantee, claim)}."


def _bounded(guarantee: GapGuarantee, claim: Claim) -> str:
    quantity = QUANTITIES[claim.quantity]
    assert claim.bound is not None  # withheld in a series only, which has words of its own
    expected = "expected " if guarantee.scores else ""
    where = "" if claim.column is None else f"by {claim.column} "
    where += "" if claim.stratum is None else f"where the stratum is {claim.stratum} "
    if quantity.ratio:
        text = f"no group's {expected}selection rate is below {floor(claim.bound)} times another's"
    else:
        text = f"{expected}{differ(quantity)} at most {ceiling(claim.bound)}"
    side = "at least" if quantity.ratio else "at most"
    if claim.measured is None:
        return f"{where}nothing is known: {quantity.lacking} (limit: {side} {claim.limit:g})"
    kept = "kept" if claim.holds else "NOT guaranteed"
    after = "in the population that the safety rows were drawn from"
    if guarantee.shift is not None:
        name, radius = guarantee.shift
        after = f"wherever each group's people changed by at most {radius:g} in {words_of(name)}"
    return f"{where}{text} {after} (limit: {side} {claim.limit:g}, {kept})"


def differ(quantity: Quantity) -> str:
    """Say what a bound is on, up to the number."""
    if quantity.summed:
        return "true positive rates and false positive rates of any two groups differ, in sum, by"
    if len(quantity.labels) > 1:
        return "true positive rates, and false ones, of any two groups differ by"
    return f"{quantity.words} of any two groups differ by"


def words_of(divergence: str) -> str:
    """Name a way to measure how far people changed."""
    return {
        "total_variation": "total variation",
        "hellinger": "Hellinger distance",
        "chi_square": "chi-square divergence",
        "density_ratio": "density ratio less 1",
    }[divergence]


def _certified(certificate: Certificate | None) -> Iterator[str]:
    if certificate is None:
        return
    bound = certificate.epsilon_tight
    if not bound < 1.0:
        yield "The certificate of the scores says nothing: its bound is 1 or more."
        return
    yield (
        "For every person there could be, in any population, the score is within "
        f"{upper_text(bound)} of the score that the own classifier of each group gives."
    )


def _gap_open(guarantee: GapGuarantee | None, selection: Selection | None) -> Iterator[str]:
    if guarantee is None:
        measured = "" if selection is None else " The rates above were measured, on these rows."
        yield f"No gap between groups is guaranteed: nobody asked for it here.{measured}"
    elif not guarantee.holds:
        yield _unproved(guarantee)
    else:
        yield (
            "Rates without a limit above, people who change more than that, and any other model "
            "or threshold are not covered."
        )


def _unproved(guarantee: GapGuarantee) -> str:
    failed = [c.quantity.replace("_", " ") for c in guarantee.claims if not c.holds]
    if guarantee.attempt is not None or len(failed) == len(guarantee.claims):
        return "The limits are not guaranteed: on these safety rows they could not be proved."
    which = listed(list(dict.fromkeys(failed)))
    return f"Not every limit is guaranteed: on these safety rows that on {which} was not proved."


def _certificate_open(certificate: Certificate | None) -> Iterator[str]:
    if certificate is None:
        yield "The scores have no certificate: nothing is known for people unlike these."
    else:
        yield (
            "The certificate does not say that groups are treated alike: it compares each score "
            "with that of a group's own classifier, not one group with another."
        )


def _until(certificate: Certificate | None, guarantee: GapGuarantee | None) -> str:
    parts = []
    if guarantee is not None and guarantee.holds:
        parts.append("Until the model, its threshold or what its columns mean is changed")
        radius = guarantee.radius.get("total_variation") if guarantee.attempt is None else None
        if radius is not None:
            parts[0] += (
                f", or a group's people change by more than {floor(radius)} in total variation "
                f"(as if {floor(100.0 * radius, 2)}{SIGN} of them were replaced by others)"
            )
        parts[0] += ". `fairsmooth monitor` tells when rates have moved."
    elif guarantee is not None and any(claim.measured is not None for claim in guarantee.claims):
        parts.append(
            "Bounds hold where they say so, until the model, its threshold or what its columns "
            "mean is changed."
        )
    if certificate is not None and certificate.epsilon_tight < 1.0:
        parts.append(
            "The certificate of the scores has no end: it holds while the model is this one."
        )
    if not parts:
        parts.append(
            "These are measurements: they hold for people like those in these rows, and say "
            "nothing of those who come later."
        )
    return " ".join(parts)


def _checked(
    subject: Subject, certificate: Certificate | None, guarantee: GapGuarantee | None
) -> str:
    if certificate is None and guarantee is None:
        return "There is nothing to verify; whoever has the rows can measure them again."
    if subject.checks is None:
        return (
            "Not verified on this page. Anybody who has the files can: see below, "
            "How to check this yourself."
        )
    proved = [check for check in subject.checks if check.checked]
    failed = [check.name for check in proved if not check.holds]
    if failed:
        return f"`fairsmooth verify` found that this does NOT hold: {', '.join(failed)}."
    trusted = len(subject.checks) - len(proved)
    if any(not check.holds for check in subject.checks):
        return (
            f"`fairsmooth verify`, which shares no code with what it checks, confirmed "
            f"{len(proved)} points; the rest needs the safety rows, whoever has them."
        )
    return (
        f"`fairsmooth verify`, which shares no code with what it checks, confirmed {len(proved)} "
        f"points and took {trusted} on trust. Anybody who has the files can repeat it."
    )
