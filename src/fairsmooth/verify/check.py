"""One thing that was checked, or that could not be."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Check:
    r"""One thing that was checked, whether it holds, and one line saying why.

    ``checked`` is false where nothing was proved. Either a file cannot show it about itself and
    the reader takes it on trust: such a line is never found to fail, so it ``holds``. Or it is
    what was asked, and more is needed to decide it: then it does not hold, and is not refuted.

    Examples
    --------
    >>> print(Check("digest", True, "matches the description and the tensors"))
    ok    digest: matches the description and the tensors
    >>> print(Check("distances", True, "at least 1 (a\nok    epsilon: 0)"))
    ok    distances: at least 1 (a\nok    epsilon: 0)
    >>> print(not_checked("decision", "taken on trust: which value is positive"))
    not checked decision: taken on trust: which value is positive
    """

    name: str
    holds: bool
    detail: str
    checked: bool = True

    def __str__(self) -> str:
        status = "ok   " if self.holds else "FAILS"
        return f"{status if self.checked else 'not checked'} {_one_line(self.name, self.detail)}"


def _one_line(name: str, detail: str) -> str:
    """Join name and detail in one line, without what a terminal would not show but obey.

    They repeat names of groups and columns from a file that is not trusted: a line break could
    write a check that never was, and escape codes could take one away.
    """
    text = f"{name}: {detail}"
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def not_checked(name: str, reason: str) -> Check:
    """Return a line about something that is taken on trust."""
    return Check(name, True, reason, checked=False)


def undecided(name: str, needed: str) -> Check:
    """Return a line about something that cannot be told without what is needed.

    Examples
    --------
    >>> print(undecided("counts", "withheld; give the rows"))
    not checked counts: withheld; give the rows
    """
    return Check(name, False, needed, checked=False)
