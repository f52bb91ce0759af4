"""Where a training may begin that goes on from an earlier one."""

from typing import Any, NamedTuple

import numpy as np

from fairsmooth._types import Floats
from fairsmooth.core.network import Network
from fairsmooth.core.rows import Rows
from fairsmooth.core.rule import FittedRule
from fairsmooth.exceptions import InputError


class Known(NamedTuple):
    """What two trainings must have in common: groups, labels, and columns by name if they have any.

    Columns without names are told apart by their number alone.
    """

    groups: Any
    classes: Any
    names: Any

    @classmethod
    def of(cls, clf: Any) -> "Known":
        """Read it from a classifier, fitted or being fitted."""
        names = ("groups_", "classes_", "feature_names_in_")
        return cls(*(getattr(clf, name, None) for name in names))

    def differs_from(self, other: "Known") -> bool:
        """Tell whether groups, labels or names of columns differ."""
        if self.groups != other.groups or not np.array_equal(self.classes, other.classes):
            return True
        named = self.names is not None and other.names is not None
        return named and not np.array_equal(self.names, other.names)


def first_parameters(earlier: FittedRule, known: Known, new: Known, rows: Rows) -> Floats:
    """Return the parameters ``(K, m)`` of the last training; refuse other groups or columns."""
    network = earlier.architecture
    columns = network.n_features if isinstance(network, Network) else rows.shape[1]
    if known.differs_from(new) or columns != rows.shape[1]:
        raise InputError(
            "Expected the groups, labels and columns of the last fit with warm_start=True, "
            f"got others: {rows.shape[1]} columns, groups {list(new.groups)}. "
            "Set warm_start=False."
        )
    return earlier.group_parameters
