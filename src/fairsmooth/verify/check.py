"""One thing that was checked."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Check:
    """One thing that was checked, whether it holds, and one line saying why.

    Examples
    --------
    >>> print(Check("digest", True, "matches the description and the tensors"))
    ok    digest: matches the description and the tensors
    """

    name: str
    holds: bool
    detail: str

    def __str__(self) -> str:
        return f"{'ok   ' if self.holds else 'FAILS'} {self.name}: {self.detail}"
