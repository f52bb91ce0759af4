"""How a method is declared, so that command line, tests and docs find it by presence."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fairsmooth.classifier import GroupClassifier

Parameters = Mapping[str, Any]

DEMOGRAPHIC_PARITY: Parameters = {"notion": "demographic_parity"}
EQUALIZED_ODDS: Parameters = {"notion": "equalized_odds"}


@dataclass(frozen=True)
class FromModule:
    """Builds estimators of a class that is imported when the first one is built.

    What a method needs takes seconds to import, and whoever only lists methods needs none of it.

    Attributes
    ----------
    module : str
        The module, by its full name.
    class_name : str
        The class in it.

    Examples
    --------
    >>> FromModule("fairsmooth.estimator", "FairSmoothClassifier")(sigma=0.5)
    FairSmoothClassifier(sigma=0.5)
    """

    module: str
    class_name: str

    def __call__(self, **options: Any) -> "GroupClassifier":
        """Return an unfitted estimator."""
        found: GroupClassifier = getattr(import_module(self.module), self.class_name)(**options)
        return found


@dataclass(frozen=True)
class Method:
    """One method of the comparison.

    Attributes
    ----------
    name : str
        Short name for the command line and for rows of results.
    label : str
        Name as the paper prints it.
    estimator : callable
        Called with keyword arguments, returns an unfitted estimator: the class, or
        :class:`FromModule`, which loads nothing until then.
    reference : str
        Where the method was published.
    optimises : str
        What the method's objective asks for, in a few words.
    notions : str
        Which notions of fairness it knows, for the table of the docs.
    guarantees : str
        What it promises of its result, for the table of the docs.
    page : str
        Its page, seen from the table of the docs.
    needs_group_at_prediction : bool
        Whether the method, as published, must know the group to predict.
    grid : tuple of mappings
        Candidates that the experiments choose among, the published default (or
        what comes nearest to it) first; a profile uses the first few. All
        methods of the library have equally many.
    published : mapping or None
        Parameters that make it the authors' algorithm with the authors' constants, where these
        are not the first candidate.
    fixed : mapping
        Parameters that the experiments set and do not choose.
    quick : mapping
        Parameters of the smoke profile, which shows that everything runs.
    """

    name: str
    label: str
    estimator: Callable[..., "GroupClassifier"]
    reference: str
    optimises: str
    notions: str = "none"
    guarantees: str = "none"
    page: str = ""
    needs_group_at_prediction: bool = False
    grid: tuple[Parameters, ...] = field(default=({},), hash=False)
    published: Parameters | None = field(default=None, hash=False)
    fixed: Parameters = field(default_factory=dict, hash=False)
    quick: Parameters = field(default_factory=dict, hash=False)

    @property
    def as_published(self) -> Parameters:
        """The authors' algorithm and constants, without any choice of ours."""
        return self.grid[0] if self.published is None else self.published

    def build(self, parameters: Parameters, *, seed: int, quick: bool) -> "GroupClassifier":
        """Return an unfitted estimator; ``parameters`` win over everything but the seed."""
        chosen = {**self.fixed, **(self.quick if quick else {}), **parameters}
        return self.estimator(**chosen, random_state=seed)


def vary(name: str, *values: Any) -> tuple[Parameters, ...]:
    """Return candidates that differ in one parameter."""
    return tuple({name: value} for value in values)


def by_notion(
    name: str, *values: Any, first: Parameters = DEMOGRAPHIC_PARITY
) -> tuple[Parameters, ...]:
    """Return two candidates, parity and equalized odds, for every value of a parameter."""
    second = EQUALIZED_ODDS if first is DEMOGRAPHIC_PARITY else DEMOGRAPHIC_PARITY
    return tuple({**notion, name: value} for value in values for notion in (first, second))
