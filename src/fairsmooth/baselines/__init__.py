"""The methods that FairSmooth is compared with, each one file, found by presence."""

import sys

from fairsmooth._registry import discover, named
from fairsmooth.baselines._base import Method
from fairsmooth.baselines.apxfair import ApxFairClassifier
from fairsmooth.baselines.arl import ARLClassifier
from fairsmooth.baselines.dlr import DLRClassifier
from fairsmooth.baselines.fair_mixup import FairMixupClassifier
from fairsmooth.baselines.fairbatch import FairBatchClassifier
from fairsmooth.baselines.fcrl import FCRLClassifier
from fairsmooth.baselines.frs import FRSClassifier
from fairsmooth.baselines.group_fair import GroupFairClassifier
from fairsmooth.baselines.implicit import ImplicitPathAlignmentClassifier
from fairsmooth.baselines.unconstrained import UnconstrainedClassifier

__all__ = [
    "ARLClassifier",
    "ApxFairClassifier",
    "DLRClassifier",
    "FCRLClassifier",
    "FRSClassifier",
    "FairBatchClassifier",
    "FairMixupClassifier",
    "GroupFairClassifier",
    "ImplicitPathAlignmentClassifier",
    "Method",
    "UnconstrainedClassifier",
    "method",
    "methods",
]


def methods() -> tuple[Method, ...]:
    """Return every method of the comparison, by the name of its file.

    Examples
    --------
    >>> [method.label for method in methods()][:3]
    ['ApxFair', 'ARL', 'DLR']
    """
    return discover(sys.modules[__name__], "METHODS")


def method(name: str) -> Method:
    """Return a method by its name.

    Examples
    --------
    >>> method("arl").label
    'ARL'
    """
    return named(methods(), method=name)
