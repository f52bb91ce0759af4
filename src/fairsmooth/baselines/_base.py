"""How a method is declared, so that command line, tests and docs find it by presence."""

from collections.abc import Callable
from dataclasses import dataclass

from fairsmooth.classifier import GroupClassifier


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
        Called with keyword arguments, returns an unfitted estimator.
    reference : str
        Where the method was published.
    optimises : str
        What the method's objective asks for, in a few words.
    needs_group_at_prediction : bool
        Whether the method, as published, must be told the group to predict.
    """

    name: str
    label: str
    estimator: Callable[..., GroupClassifier]
    reference: str
    optimises: str
    needs_group_at_prediction: bool = False
