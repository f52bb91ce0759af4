"""What training learns from."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fairsmooth._types import Floats, Labels
from fairsmooth.core.ranks import ALONE, Ranks
from fairsmooth.core.rows import Rows
from fairsmooth.data.groups import Groups


@dataclass(frozen=True, eq=False)
class Example:
    """Rows to learn from: features, labels 0 or 1, groups, and perhaps weights and names.

    With several ``ranks`` they are a share, and the groups are those of all shares.
    """

    X: Rows
    y: Labels
    groups: Groups
    weights: Floats | None = None
    names: Sequence[str] | None = None
    ranks: Ranks = ALONE

    def weights_of(self, rows: NDArray[np.intp]) -> Floats | None:
        """Return the weights of some rows, if there are any."""
        return None if self.weights is None else self.weights[rows]
