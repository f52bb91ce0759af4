"""Columns of the trade-off, learned from the training part."""

from collections.abc import Callable
from dataclasses import replace

import pandas as pd

from fairsmooth.columns import Forecasts
from fairsmooth.data.encoding import TableEncoder
from fairsmooth.datasets import FairDataset

# The group as a feature, for those who are told it.
GROUP = "the group"

Encode = Callable[[pd.DataFrame], pd.DataFrame]
Learned = tuple[pd.DataFrame, Encode]
"""The training rows' columns, and how others get theirs."""


def binned(train: FairDataset, seed: int) -> Learned:
    """Return indicators of ten intervals per number, and of every category."""
    encoder = TableEncoder.learn(train.X, n_bins=10, unknown="ignore")
    return encoder.transform(train.X), encoder.transform


def forecasts(train: FairDataset, seed: int) -> Learned:
    """Return cross-fitted forecasts of label and group, out-of-fold on the training rows."""
    known = [GROUP] if GROUP in train.X else []
    learner = Forecasts(group_columns=known, unknown="ignore", random_state=seed)
    own = learner.fit_transform(train.X, train.y, sensitive_features=train.sensitive_features)
    return own, learner.transform


def with_group(data: FairDataset) -> FairDataset:
    """Return the rows with the sensitive attribute among the features."""
    groups = data.groups
    names = [groups.labels[code] for code in groups.codes]
    return replace(data, X=data.X.assign(**{GROUP: names}))


COLUMNS: dict[str, Callable[[FairDataset, int], Learned]] = {
    "binned": binned,
    "forecasts": forecasts,
}
