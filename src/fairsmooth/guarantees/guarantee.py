"""The guarantee itself: what was asked, what was counted, what is proved."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from fairsmooth import _lazy
from fairsmooth.exceptions import InputError
from fairsmooth.guarantees.claims import Claim, Shift

FORMAT = "fairsmooth-gap-guarantee"
VERSION = 1


@dataclass(frozen=True)
class CellCount:
    """The rows of one cell: a group, or a group with a label.

    Attributes
    ----------
    group : label
        A tuple of values where several sensitive columns were taken together.
    label : int or None
        The true label; ``None`` for everybody in the group.
    rows, positive : int
        Rows, and positive decisions among them.
    mean, variance : float, optional
        Of the scores, where scores were given; ``positive`` is then 0.
    column, stratum : optional
        As in :class:`Claim`.
    """

    group: object
    label: int | None
    rows: int
    positive: int
    mean: float | None = None
    variance: float | None = None
    column: str | None = None
    stratum: object = None


@dataclass(frozen=True)
class GapGuarantee:
    r"""Proved bounds on the gaps between groups, for one fixed rule and one set of safety rows.

    With probability at least ``confidence`` over the safety rows, ``holds`` is true only if
    every limit is kept in the population that they were drawn from (and after the shift, if
    one was asked for). Each bound and each radius has that probability by itself.

    Attributes
    ----------
    confidence : float
        How sure.
    claims : tuple of Claim
        One per limit, grouping and stratum.
    counts : tuple of CellCount or None
        What everything follows from; withheld in a series of attempts.
    shift : (str, float) or None
        The divergence and radius that the bounds allow for.
    attempt : int or None
        Which try of a declared series this is; it shows only whether it passed.
    scores : bool
        Whether the rates are of scores, the decision being drawn with the score as probability.
    passed : bool
        Whether every limit is kept.
    provenance : mapping
        Facts that the caller adds, such as digests of model and table, threshold and date.
    """

    confidence: float
    claims: tuple[Claim, ...]
    counts: tuple[CellCount, ...] | None
    shift: Shift | None
    attempt: int | None
    scores: bool
    passed: bool
    provenance: Mapping[str, Any] = field(default_factory=dict)

    @property
    def holds(self) -> bool:
        """Whether every limit is kept."""
        return self.passed

    @property
    def error(self) -> float:
        """The probability that the test may pass wrongly: less for later attempts."""
        return error_of(self.confidence, self.attempt)

    @property
    def limits(self) -> dict[str, float]:
        """Limits by name."""
        return {_key(claim): claim.limit for claim in self.claims}

    @property
    def bounds(self) -> dict[str, float]:
        """Bounds by name; the worst over strata. Empty in a series of attempts."""
        return self._worst("bound")

    @property
    def measured(self) -> dict[str, float | None]:
        """Measured values by name; the worst over strata. Empty in a series of attempts."""
        found: dict[str, float | None] = {**self._worst("measured")}
        empty = () if self.attempt else (c for c in self.claims if c.measured is None)
        return found | dict.fromkeys(map(_key, empty))

    @property
    def radius(self) -> dict[str, float]:
        """By divergence, how far every cell's people may change with all limits still kept."""
        names = self.claims[0].radius
        return {name: min(claim.radius[name] for claim in self.claims) for name in names}

    @property
    def strata(self) -> dict[object, "GapGuarantee"]:
        """One guarantee per value of the control features, each at the same confidence."""
        values = dict.fromkeys(c.stratum for c in self.claims if c.stratum is not None)
        return {value: self._stratum(value) for value in values}

    def with_provenance(self, **facts: Any) -> "GapGuarantee":
        """Return the same guarantee with more facts about where it came from."""
        return replace(self, provenance={**self.provenance, **facts})

    def to_dict(self) -> dict[str, Any]:
        """Return plain data that JSON can hold."""
        return {
            "format": FORMAT,
            "version": VERSION,
            "holds": self.holds,
            "confidence": self.confidence,
            "limits": self.limits,
            "bounds": self.bounds,
            "measured": self.measured,
            "radius": self.radius,
            "shift": list(self.shift) if self.shift else None,
            "attempt": self.attempt,
            "scores": self.scores,
            "claims": [_plain(asdict(claim)) for claim in self.claims],
            "counts": None if self.counts is None else [_plain(asdict(c)) for c in self.counts],
            "provenance": dict(self.provenance),
        }

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> "GapGuarantee":
        """Rebuild a guarantee from :meth:`to_dict`; what does not fit together is refused.

        This checks the form. Whether the numbers are true is for
        :func:`fairsmooth.verify.guarantee.verify_guarantee`.
        """
        try:
            found = _rebuild(cls, plain)
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise InputError(
                "Expected a guarantee as written by GapGuarantee.to_dict, "
                f"got one that does not fit: {error}."
            ) from error
        again = found.to_dict()
        differing = [key for key in again if again[key] != plain.get(key)]
        if differing or set(plain) != set(again):
            names = differing or sorted(set(plain) ^ set(again))
            raise InputError(
                f"Expected a guarantee whose parts agree, got one that differs in {names}."
            )
        return found

    def __str__(self) -> str:
        """Say in plain words what is guaranteed, and under which conditions."""
        from fairsmooth.guarantees.words import in_words

        return "\n".join(in_words(self))

    def to_html(self, path: str | Path | None = None) -> str:
        """Return the guarantee as one HTML page that needs nothing else; also write it, if asked.

        On it one can see how the bounds widen as people change.
        """
        return str(_lazy.fetched("fairsmooth.reporting.objects", "guarantee_page")(self, path))

    def _repr_html_(self) -> str:
        from fairsmooth.guarantees.words import in_html

        return in_html(self)

    def _worst(self, name: str) -> dict[str, float]:
        found: dict[str, float] = {}
        for claim in self.claims:
            key, value = _key(claim), getattr(claim, name)
            if value is not None:
                pick = min if claim.quantity == "impact_ratio" else max
                found[key] = pick(found[key], value) if key in found else value
        return found

    def _stratum(self, value: object) -> "GapGuarantee":
        claims = tuple(claim for claim in self.claims if claim.stratum == value)
        counts = self.counts
        if counts is not None:
            counts = tuple(count for count in counts if count.stratum == value)
        # In a series of attempts only whether all of them hold may be told.
        passed = self.passed if self.attempt else all(claim.holds for claim in claims)
        return replace(self, claims=claims, counts=counts, passed=passed)


def error_of(confidence: float, attempt: int | None) -> float:
    """Return the error of one test: that of try N of a series is δ/(N(N + 1)).

    The errors of a whole series add up to δ, however long it goes on.
    """
    error = 1.0 - confidence
    return error if attempt is None else error / (attempt * (attempt + 1))


def _key(claim: Claim) -> str:
    return claim.quantity if claim.column is None else f"{claim.column}:{claim.quantity}"


def _plain(record: dict[str, Any]) -> dict[str, Any]:
    return {key: list(v) if isinstance(v, tuple) else v for key, v in record.items()}


def _label(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


def _rebuild(cls: type[GapGuarantee], plain: Mapping[str, Any]) -> GapGuarantee:
    claims = tuple(
        Claim(**(dict(claim) | {key: _label(claim[key]) for key in ("stratum", "parts")}))
        for claim in plain["claims"]
    )
    counts = plain["counts"]
    if counts is not None:
        counts = tuple(
            CellCount(**(dict(c) | {key: _label(c[key]) for key in ("group", "stratum")}))
            for c in counts
        )
    return cls(
        confidence=float(plain["confidence"]),
        claims=claims,
        counts=counts,
        shift=(str(plain["shift"][0]), float(plain["shift"][1])) if plain["shift"] else None,
        attempt=plain["attempt"],
        scores=bool(plain["scores"]),
        passed=bool(plain["holds"]) if plain["attempt"] else all(c.holds for c in claims),
        provenance=dict(plain["provenance"]),
    )
