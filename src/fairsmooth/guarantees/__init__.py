"""Proved bounds on the gaps between groups: once for a set of rows, or watched over time."""

from fairsmooth.exceptions import NoGuarantee
from fairsmooth.guarantees.gaps import guarantee_gaps
from fairsmooth.guarantees.guarantee import GapGuarantee
from fairsmooth.guarantees.limits import Limits
from fairsmooth.guarantees.monitor import GapMonitor

__all__ = ["GapGuarantee", "GapMonitor", "Limits", "NoGuarantee", "guarantee_gaps"]
