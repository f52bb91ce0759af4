"""What ranks must agree on before they train: labels, groups, and what columns become.

Names and counts pass between them, never rows.
"""

from collections.abc import Hashable, Iterable
from typing import Any

import numpy as np
import pandas as pd

from fairsmooth._types import Labels
from fairsmooth.core.ranks import Ranks
from fairsmooth.data.columns.counted import learn_counted
from fairsmooth.data.columns.learning import Settings
from fairsmooth.data.encoding import TableEncoder
from fairsmooth.data.frames import refuse_repeats
from fairsmooth.data.groups import Groups, encode_groups, match_groups, require_counts
from fairsmooth.data.roles import Roles, label_pair
from fairsmooth.data.values import normal_codes
from fairsmooth.exceptions import InputError


def agree_on_labels(
    column: pd.Series, roles: Roles, ranks: Ranks
) -> tuple[Labels, tuple[str, str]]:
    """Return 0/1 codes, and the two values that the labels of all ranks have."""
    codes, texts = normal_codes(roles.label, column)
    every = {text for told in ranks.gather(texts) for text in told}
    negative, positive = label_pair(every, roles)
    is_positive = np.array([text == positive for text in texts], dtype=np.int64)
    return is_positive[codes] if len(codes) else codes.astype(np.int64), (negative, positive)


def agree_on_groups(sensitive: pd.DataFrame, ranks: Ranks) -> Groups:
    """Return the groups of own rows, numbered as those of all ranks."""
    own: tuple[Hashable, ...] = ()
    if len(sensitive):
        own = encode_groups(sensitive, n_rows=len(sensitive)).labels
    told = {_label(label) for labels in ranks.gather(own) for label in labels}
    labels = tuple(sorted(told, key=str))
    if not len(sensitive):
        return Groups(labels, np.empty(0, dtype=np.intp))
    return match_groups(sensitive, labels, n_rows=len(sensitive))


def require_trainable_together(groups: Groups, y: Labels, ranks: Ranks) -> None:
    """Refuse groups that cannot carry a classifier of their own, by the counts of all ranks."""
    positives = np.bincount(groups.codes, weights=y, minlength=len(groups.labels))
    counts, of_positives = ranks.sum([groups.counts, positives])
    require_counts(groups.labels, counts, of_positives)


def learn_encoder(
    features: Iterable[tuple[str, pd.Series]],
    ranks: Ranks,
    *,
    numeric: str,
    unknown: str,
    most_texts: int | None = None,
) -> TableEncoder:
    """Learn the encoder that the training rows of all ranks give, column by column.

    ``features`` are names and own rows, such as the items of a frame. ``most_texts`` is how many
    categories of a column a rank may name to the others.
    """
    how = TableEncoder((), numeric=numeric, unknown=unknown)
    settings = Settings(numeric, how.n_bins, how.max_categories)
    learned = [
        learn_counted(str(name), column, settings, ranks, most_texts=most_texts)
        for name, column in features
    ]
    rules = tuple(rule for found, _ in learned for rule in found)
    notes = tuple(note for _, note in learned if note is not None)
    if not rules:
        raise InputError("Expected a column with more than one value, found none.")
    refuse_repeats([name for rule in rules for name in rule.feature_names])
    return TableEncoder(rules, how.numeric, how.n_bins, how.max_categories, unknown, notes)


def _label(told: Any) -> Hashable:
    return tuple(told) if isinstance(told, list) else told
