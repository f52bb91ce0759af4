"""Forecasts: learn forecasters of label and group, and give training rows unseen forecasts."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from fairsmooth import _validate
from fairsmooth._types import Floats
from fairsmooth.core.labels import group_text
from fairsmooth.data.encoding import UNKNOWN, TableEncoder
from fairsmooth.data.forecasts.boosting import Boosting, Classes, exact
from fairsmooth.data.forecasts.crossfit import CrossFitted, Folds, Task, cross_fit, deal, refit
from fairsmooth.data.forecasts.encoder import LEAST_SCALE, ForecastEncoder, with_label
from fairsmooth.data.forecasts.forest import Forest, Levels
from fairsmooth.data.forecasts.inputs import learn_inputs, levels_of, places_of
from fairsmooth.data.forecasts.joint import joint_forecasts, to_columns
from fairsmooth.data.frames import as_frame
from fairsmooth.data.groups import Groups, encode_groups
from fairsmooth.exceptions import InputError

# No column reaches farther than this from its centre on training rows: a rare group's would.
FARTHEST = 10.0


class Forecasts(BaseEstimator):  # type: ignore[misc]
    r"""Forecasts of label and group as columns, in which every optimal fair rule is linear.

    Two boosted forecasters are learned, of the label and of the group given the label. Their
    product

    .. math:: q_{ay}(x) = P(A = a, Y = y \mid x) = P(Y = y \mid x)\,P(A = a \mid x, Y = y)

    is recombined into :math:`2K - 1` columns: :math:`P(Y = 1 \mid x)`, and :math:`q_{a0}, q_{a1}`
    for every group but the largest. Accuracy, selection rates, true and false positive rates are
    linear in a rule's decisions with these as coefficients, so the most accurate rule under
    bounds on the gaps between groups decides by the sign of a linear function of the columns.

    Training rows get forecasts *out of fold*, by forecasters that have not seen them; new rows
    those of forecasters refitted on all training rows. So ``fit_transform(table)`` is not
    ``fit(table).transform(table)``. The columns are a fixed map of a row: a certificate of the
    classifier behind them holds for any input, whatever the forecasts are worth.

    A *forecast of the group* is used at prediction. Where that is not wanted or not lawful, use
    ``group=False``: the forecast of the label alone.

    Parameters
    ----------
    group : bool
        Whether the group is forecast.
    group_columns : sequence of str
        Columns of the table that tell the group, if it is known at prediction. The forecast
        of the group is then the group itself.
    booster : {"sklearn", "lightgbm"}
        Who grows the trees. Either way they are kept as plain arrays, and prediction needs
        neither library.
    n_folds : int
    rounds : int
        Most rounds of boosting; the number that forecasts unseen rows best is used.
    leaves, learning_rate, rows_per_leaf
        Of the trees; ``leaves=None`` chooses by the number of rows.
    unknown : {"error", "ignore"}
        What a category not seen in training does; ignored, it counts as rarer than any.
    random_state : int

    Attributes
    ----------
    encoder_ : ForecastEncoder
    notes_ : tuple of str
        What was decided, and how good the forecasts are.

    Examples
    --------
    >>> from fairsmooth.datasets import make_biased
    >>> data = make_biased(n_samples=400, random_state=0)
    >>> forecasts = Forecasts(rounds=20)
    >>> X = forecasts.fit_transform(data.X, data.y, sensitive_features=data.sensitive_features)
    >>> list(X.columns)
    ['P(Y=1)', 'P(A=g1, Y=0)', 'P(A=g1, Y=1)']
    >>> forecasts.encoder_.joint_of(X).sum(axis=(1, 2)).round(12).min()
    np.float64(1.0)
    """

    def __init__(
        self,
        *,
        group: bool = True,
        group_columns: Sequence[str] = (),
        booster: str = "sklearn",
        n_folds: int = 5,
        rounds: int = 150,
        leaves: int | None = None,
        learning_rate: float = 0.1,
        rows_per_leaf: int = 20,
        unknown: str = "error",
        random_state: int = 0,
    ) -> None:
        self.group = group
        self.group_columns = group_columns
        self.booster = booster
        self.n_folds = n_folds
        self.rounds = rounds
        self.leaves = leaves
        self.learning_rate = learning_rate
        self.rows_per_leaf = rows_per_leaf
        self.unknown = unknown
        self.random_state = random_state

    def fit(self, table: Any, y: Any, *, sensitive_features: Any) -> "Forecasts":
        """Learn the forecasters; see :meth:`fit_transform` for columns of the training rows."""
        self.fit_transform(table, y, sensitive_features=sensitive_features)
        return self

    def fit_transform(self, table: Any, y: Any, *, sensitive_features: Any) -> pd.DataFrame:
        """Learn the forecasters and return the out-of-fold columns of the training rows.

        Parameters
        ----------
        table : table
            The features of the training rows: pandas, polars, pyarrow or a dict.
        y : array-like of shape (n,)
            Two values; the larger is the positive one.
        sensitive_features : array-like of shape (n,) or (n, c)

        Returns
        -------
        DataFrame of float64, shape (n, 2K - 1), or (n, 1) without the group
        """
        frame = as_frame(table)
        rows = self._rows(frame, y, sensitive_features)
        label = rows.forecast(Task(rows.levels, rows.y, 2))
        forecast = label.unseen(rows.levels)
        group = self._group(rows) if self.group else None
        if group is None:
            columns, reference = forecast[:, 1:], 0
        else:
            given = [group.unseen(with_label(rows.levels, y)) for y in (0, 1)]
            reference = int(np.argmax(rows.groups.counts))
            columns = to_columns(joint_forecasts(forecast, given), reference)
        self.encoder_ = ForecastEncoder(
            inputs=rows.inputs,
            label=label.forest,
            group=None if group is None else group.forest,
            groups=() if group is None else tuple(map(group_text, rows.groups.labels)),
            reference=reference,
            **_scaling(columns),
            notes=(*rows.inputs.notes, *_notes(rows, label, group, self)),
        )
        self.notes_ = self.encoder_.notes
        scaled = self.encoder_.scaled(columns)
        index = table.index if isinstance(table, pd.DataFrame) else None
        return pd.DataFrame(scaled, index=index, columns=self.encoder_.feature_names)

    def transform(self, table: Any) -> pd.DataFrame:
        """Return the columns of rows that were not trained on."""
        check_is_fitted(self, "encoder_")
        return self.encoder_.transform(table)

    def get_feature_names_out(self, input_features: Any = None) -> Any:
        """Return the names of the columns."""
        check_is_fitted(self, "encoder_")
        return np.array(self.encoder_.feature_names, dtype=object)

    def _rows(self, frame: pd.DataFrame, y: Any, sensitive_features: Any) -> "_Rows":
        _validate.one_of(UNKNOWN, unknown=self.unknown)
        _validate.in_range(2, 100, n_folds=self.n_folds)
        leaves = _leaves(len(frame)) if self.leaves is None else self.leaves
        how = Boosting(
            self.booster, self.rounds, leaves, self.learning_rate, self.rows_per_leaf,
            seed=self.random_state,
        )  # fmt: skip
        how.check()
        groups = encode_groups(sensitive_features, n_rows=len(frame))
        codes = _labels(y, len(frame))
        if len(frame) < 2 * self.n_folds:
            raise InputError(
                f"Expected at least {2 * self.n_folds} rows for {self.n_folds} folds, "
                f"got {len(frame)}."
            )
        inputs = learn_inputs(frame, unknown=self.unknown)
        folds = deal(groups.codes * 2 + codes, self.n_folds, seed=self.random_state)
        return _Rows(inputs, levels_of(inputs, frame), codes, groups, folds, how)

    def _group(self, rows: "_Rows") -> "_Forecaster":
        levels, n_groups = with_label(rows.levels, rows.y), len(rows.groups.labels)
        for name in self.group_columns:
            _validate.known_column(name, rows.inputs.columns, where="the features")
        if self.group_columns:
            places = places_of(rows.inputs, self.group_columns)
            forest = exact(levels, rows.groups.codes, n_groups, places)
            if forest is not None:
                return _Forecaster(forest, rows.folds)
        return rows.forecast(Task(levels, rows.groups.codes, n_groups))


@dataclass(frozen=True)
class _Rows:
    """Training rows, ready for boosting."""

    inputs: TableEncoder
    levels: Levels
    y: Classes
    groups: Groups
    folds: Folds
    how: Boosting

    def forecast(self, task: Task) -> "_Forecaster":
        fitted = cross_fit(task, self.folds, self.how)
        return _Forecaster(refit(task, fitted, self.how), self.folds, fitted)


@dataclass(frozen=True)
class _Forecaster:
    """A forest for new rows, and those of the folds unless nothing is left to learn."""

    forest: Forest
    folds: Folds
    fitted: CrossFitted | None = None

    def unseen(self, levels: Levels) -> Floats:
        if self.fitted is None:
            return self.forest.probabilities(levels)
        return self.fitted.probabilities(levels, self.folds)


def _labels(y: Any, n_rows: int) -> Classes:
    values = np.asarray(y)
    if values.shape != (n_rows,):
        raise InputError(f"Expected y with one label per row ({n_rows}), got shape {values.shape}.")
    found, codes = np.unique(values, return_inverse=True)
    if len(found) != 2:
        raise InputError(f"Expected 2 values in y, got {len(found)}: {found[:5].tolist()}.")
    return np.asarray(codes)


def _leaves(n_rows: int) -> int:
    """Return the leaves of a tree: fewer rows bear smaller trees."""
    return 15 if n_rows >= 15_000 else 8


def _scaling(columns: Floats) -> dict[str, tuple[float, ...]]:
    centre = columns.mean(axis=0)
    farthest = np.abs(columns - centre).max(axis=0)
    scale = np.maximum(np.maximum(columns.std(axis=0), farthest / FARTHEST), LEAST_SCALE)
    return {"centre": tuple(centre.tolist()), "scale": tuple(scale.tolist())}


def _notes(
    rows: _Rows, label: _Forecaster, group: _Forecaster | None, settings: Forecasts
) -> Iterator[str]:
    yield _quality("label", label, rows.y, settings.rounds)
    yield (
        "The features are forecasts, a fixed map of a row: the certificate is about the "
        "classifier behind them and holds whatever they are worth."
    )
    if group is None:
        yield "The group is not forecast; the columns hold the forecast of the label alone."
        return
    if group.fitted is None:
        listed = ", ".join(settings.group_columns)
        yield f"The group is read from {listed}, which prediction then needs; it is not forecast."
        return
    if settings.group_columns:
        listed = ", ".join(settings.group_columns)
        yield f"The group is no function of the levels of {listed}; it is forecast."
    yield _quality("group, given the label", group, rows.groups.codes, settings.rounds)
    yield (
        "Predictions use a forecast of the group from the other columns, also where nobody "
        "states a group; whether that is wanted and lawful is for you to know "
        "(docs/forecasts.md)."
    )
    cells = np.bincount(rows.groups.codes * 2 + rows.y, minlength=2 * len(rows.groups.labels))
    for place in np.flatnonzero(cells.reshape(-1, 2).min(axis=1) < settings.n_folds):
        yield (
            f"Group {group_text(rows.groups.labels[place])!r} has fewer than {settings.n_folds} "
            "rows of a label, so not every fold has one: its forecasts rest on few rows."
        )


def _quality(what: str, forecaster: _Forecaster, classes: Classes, most: int) -> str:
    assert forecaster.fitted is not None
    shares = np.bincount(classes) / len(classes)
    plain = float(-(shares[shares > 0] * np.log(shares[shares > 0])).sum())
    found = forecaster.fitted
    more = " The last round was the best: more rounds may be better." * (found.n_rounds == most)
    return (
        f"Forecast of the {what}: log loss {found.log_loss:.4f} on unseen rows after "
        f"{found.n_rounds} rounds, {plain:.4f} for the shares alone.{more}"
    )
