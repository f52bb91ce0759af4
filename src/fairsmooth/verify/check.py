"""One thing that was checked, or that could not be."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Check:
    """One thing that was checked, whether it holds, and one line saying why.

    ``checked`` is false for what a file cannot show about itself and the reader takes on
    trust; such a line is never found to fail, so it ``holds``, but nothing was proved.

    Examples
    --------
    >>> print(Check("digest", True, "matches the description and the tensors"))
    ok    digest: matches the description and the tensors
    >>> print(not_checked("decision", "taken on trust: which value is positive"))
    not checked decision: taken on trust: which value is positive
    """

    name: str
    holds: bool
    detail: str
    checked: bool = True

    def __str__(self) -> str:
        status = "ok   " if self.holds else "FAILS"
        return f"{status if self.checked else 'not checked'} {self.name}: {self.detail}"


def not_checked(name: str, reason: str) -> Check:
    """Return a line about something that is taken on trust."""
    return Check(name, True, reason, checked=False)
