"""What came of verifying a model file."""

from dataclasses import dataclass

from fairsmooth.verify.check import Check


@dataclass(frozen=True)
class Verification:
    """The outcome of :func:`fairsmooth.verify.verify`: every check, in order.

    A file that cannot be read to the end has fewer checks; the last one then
    says what was wrong.
    """

    checks: tuple[Check, ...]

    @property
    def holds(self) -> bool:
        """Whether there were checks and every one of them holds."""
        return bool(self.checks) and all(check.holds for check in self.checks)

    @property
    def failures(self) -> tuple[Check, ...]:
        """The checks that were found not to hold."""
        return tuple(check for check in self.checks if check.checked and not check.holds)

    @property
    def undecided(self) -> tuple[Check, ...]:
        """What was asked and cannot be told from what was given: neither proved nor refuted."""
        return tuple(check for check in self.checks if not (check.checked or check.holds))

    @property
    def not_checked(self) -> tuple[Check, ...]:
        """What predictions depend on and the file cannot show: taken on trust."""
        return tuple(check for check in self.checks if check.holds and not check.checked)

    def __str__(self) -> str:
        """Return one line per check."""
        return "\n".join(map(str, self.checks))
