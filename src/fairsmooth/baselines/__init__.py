"""The methods that FairSmooth is compared with, each one file or folder, found by presence."""

import sys
from typing import TYPE_CHECKING

from fairsmooth._lazy import names_when_asked
from fairsmooth._registry import discover, named
from fairsmooth.baselines._base import FromModule, Method

if TYPE_CHECKING:
    from fairsmooth.baselines.apxfair.classifier import ApxFairClassifier
    from fairsmooth.baselines.arl.classifier import ARLClassifier
    from fairsmooth.baselines.dlr.classifier import DLRClassifier
    from fairsmooth.baselines.fair_mixup.classifier import FairMixupClassifier
    from fairsmooth.baselines.fairbatch.classifier import FairBatchClassifier
    from fairsmooth.baselines.fcrl.classifier import FCRLClassifier
    from fairsmooth.baselines.frs.classifier import FRSClassifier
    from fairsmooth.baselines.group_fair.classifier import GroupFairClassifier
    from fairsmooth.baselines.implicit.classifier import ImplicitPathAlignmentClassifier
    from fairsmooth.baselines.unconstrained.classifier import UnconstrainedClassifier

__all__ = [
    "ARLClassifier",
    "ApxFairClassifier",
    "DLRClassifier",
    "FCRLClassifier",
    "FRSClassifier",
    "FairBatchClassifier",
    "FairMixupClassifier",
    "FromModule",
    "GroupFairClassifier",
    "ImplicitPathAlignmentClassifier",
    "Method",
    "UnconstrainedClassifier",
    "method",
    "methods",
]

# Loaded when asked for: a list of the methods needs no torch.
_HOMES = {
    "ARLClassifier": "fairsmooth.baselines.arl.classifier",
    "ApxFairClassifier": "fairsmooth.baselines.apxfair.classifier",
    "DLRClassifier": "fairsmooth.baselines.dlr.classifier",
    "FCRLClassifier": "fairsmooth.baselines.fcrl.classifier",
    "FRSClassifier": "fairsmooth.baselines.frs.classifier",
    "FairBatchClassifier": "fairsmooth.baselines.fairbatch.classifier",
    "FairMixupClassifier": "fairsmooth.baselines.fair_mixup.classifier",
    "GroupFairClassifier": "fairsmooth.baselines.group_fair.classifier",
    "ImplicitPathAlignmentClassifier": "fairsmooth.baselines.implicit.classifier",
    "UnconstrainedClassifier": "fairsmooth.baselines.unconstrained.classifier",
}
__getattr__ = names_when_asked(globals(), _HOMES)


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
