"""Columns that the trade-off may choose from, learned from the rows of a fit.

"coarse" has four intervals per number, "binned" ten, "crossed" sixty and the products of
rough indicators.
"""

from collections.abc import Callable
from functools import partial

import numpy as np
import pandas as pd
from scipy.sparse import csr_array
from sklearn.feature_selection import VarianceThreshold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures

from fairsmooth.data.encoding import TableEncoder

# A product of two indicators is kept if its variance is that of a share of 5 %.
LEAST_VARIANCE = 0.05 * 0.95

Encode = Callable[[pd.DataFrame], pd.DataFrame]


def intervals(n_bins: int, table: pd.DataFrame) -> Encode:
    """Return indicators of that many intervals per number, and of every category."""
    return TableEncoder.learn(table, n_bins=n_bins, unknown="ignore").transform


def crossed(table: pd.DataFrame) -> Encode:
    """Return fine intervals and the products of rough ones that are not rare."""
    fine = TableEncoder.learn(table, n_bins=60, unknown="ignore")
    rough = TableEncoder.learn(table, n_bins=3, unknown="ignore")
    pairs = make_pipeline(
        PolynomialFeatures(2, interaction_only=True, include_bias=False),
        VarianceThreshold(LEAST_VARIANCE),
    ).fit(csr_array(rough.transform(table)))

    def encode(rows: pd.DataFrame) -> pd.DataFrame:
        products = pairs.transform(csr_array(rough.transform(rows))).toarray()
        return pd.DataFrame(np.hstack([fine.transform(rows), products]), index=rows.index)

    return encode


COLUMNS: dict[str, Callable[[pd.DataFrame], Encode]] = {
    "binned": partial(intervals, 10),
    "coarse": partial(intervals, 4),
    "crossed": crossed,
}
