"""What a column of scores or decisions says: which rows it selects, and by which value."""

import re
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from fairsmooth._types import Floats, Labels
from fairsmooth.data.roles import UNMISTAKABLE
from fairsmooth.data.values import NUMBER, WHOLE, normal_text, normal_texts, numbers
from fairsmooth.exceptions import InputError

_NEGATIVE, _POSITIVE = ({pair[side] for pair in UNMISTAKABLE} for side in (0, 1))


@dataclass(frozen=True)
class DecisionColumn:
    """Decisions as a column holds them.

    Attributes
    ----------
    decisions : ndarray of 0 and 1
    scores : ndarray or None
        The scores that were decided on; None where the column holds decisions.
    threshold : float or None
        A score above it is a positive decision.
    selected : str or None
        Of a column of decisions: the normal text of the value that means selected.
    """

    decisions: Labels
    scores: Floats | None = None
    threshold: float | None = None
    selected: str | None = None

    def notes(self, name: str) -> list[str]:
        """Say so where a value means selected that means the contrary in most tables."""
        if self.selected is None or self.selected.lower() not in _NEGATIVE:
            return []
        return [
            f"In {name!r} the positive value {self.selected!r} means selected. "
            "If it means the contrary there, write yes for selected and no for the others."
        ]


def read_decisions(
    column: pd.Series,
    *,
    labels: tuple[str, str] | None = None,
    positive: Any = None,
    threshold: float | None = None,
) -> DecisionColumn:
    """Read a column of decisions, or of scores, which a threshold decides.

    Decisions are the label's two values, of which the positive one means selected; 0 and 1,
    no and yes, or another pair that cannot be mistaken; without labels also any two values
    of which ``positive`` is one. The value that means selected must not depend on whether
    the labels are known yet, or a monitor would add up decisions and their contrary.
    """
    name = str(column.name)
    texts = normal_texts(name, column)
    if texts.isna().any():
        row = int(np.argmax(texts.isna().to_numpy())) + 1
        raise InputError(
            f"Expected a score or decision in every row of {name!r}, got "
            f"{int(texts.isna().sum())} missing (the first in row {row})."
        )
    if threshold is None:
        selected = _selected(set(texts), labels, positive)
        if selected is not None:
            return DecisionColumn(
                (texts == selected).to_numpy().astype(np.int64), selected=selected
            )
    values = _scores(name, column, texts, labels)
    if threshold is None and (values.min() < 0.0 or values.max() > 1.0):
        raise InputError(
            f"Expected a threshold for the scores in {name!r}, which go from {values.min():g} to "
            f"{values.max():g}, got none. Give the score above which a row is selected; if the "
            f"values are decisions, {_remedy(labels)}."
        )
    used = 0.5 if threshold is None else float(threshold)
    return DecisionColumn((values > used).astype(np.int64), values, used)


def mean_alike(one: str, other: str) -> bool:
    """Tell whether two values mean selected in one way: 1, yes and True do.

    Examples
    --------
    >>> mean_alike("1", "Yes"), mean_alike("1", "0"), mean_alike("hire", "hire")
    (True, False, True)
    """
    both = {one.lower(), other.lower()}
    return len(both) == 1 or both <= _POSITIVE or both <= _NEGATIVE


def _selected(found: Collection[str], labels: tuple[str, str] | None, positive: Any) -> str | None:
    """Return the value that means selected, or None where the column holds no decisions."""
    if len(found) > 2:  # scores: nothing below need look at millions of them
        return None
    if labels is not None and set(found) <= set(labels):
        return labels[1]
    named = normal_text(positive) if labels is None else None
    lower = {text.lower(): text for text in found}
    for negative, usual in UNMISTAKABLE:
        # Yes beside yes are two values, and of two values only one can mean selected.
        if len(lower) == len(found) and set(lower) <= {negative, usual}:
            if named is not None and named.lower() in (negative, usual):
                return lower.get(named.lower(), named)
            return lower.get(usual, usual)
    if named is not None and len({*found, named}) <= 2 and _alike({*found, named}):
        return named
    return None


def _alike(texts: Collection[str]) -> bool:
    """Tell whether texts are words all of them, or whole numbers: others are scores."""
    if not any(re.fullmatch(NUMBER, text) for text in texts):
        return True
    return all(re.fullmatch(WHOLE, text) for text in texts)


def _scores(
    name: str, column: pd.Series, texts: pd.Series, labels: tuple[str, str] | None
) -> Floats:
    read = numbers(name, column)
    if read.wrong.any():
        row = int(np.argmax(read.wrong))
        raise InputError(
            f"Expected scores, or decisions 0 and 1, in {name!r}, got {texts.iloc[row]!r} "
            f"in row {row + 1}. If the values are decisions, {_remedy(labels)}."
        )
    return read.values


def _remedy(labels: tuple[str, str] | None) -> str:
    if labels is None:
        return "name the positive one of the two"
    return f"write them as the labels, {labels[0]!r} and {labels[1]!r}, or as 0 and 1"
