"""Which encoder the training rows of a table get, and their features under it."""

import pandas as pd

from fairsmooth import _validate
from fairsmooth._types import Labels
from fairsmooth.columns import Forecasts
from fairsmooth.core.rows import CodedRows
from fairsmooth.data.crossed import KIND as CROSSED
from fairsmooth.data.crossed import CrossedEncoder
from fairsmooth.data.encoders import Encoder
from fairsmooth.data.encoding import TableEncoder
from fairsmooth.data.roles import Roles

NUMERIC = {"auto": "binned", "binned": "binned", "standardised": "standardised"}
FORECASTS = {"forecasts": True, "label-forecast": False}
COLUMNS = (*NUMERIC, CROSSED, *FORECASTS)


def check_columns(columns: str | Forecasts) -> None:
    """Refuse a name that stands for no columns."""
    if not isinstance(columns, Forecasts):
        _validate.one_of(COLUMNS, columns=columns)


def encode_training(
    features: pd.DataFrame,
    y: Labels,
    sensitive: pd.DataFrame,
    roles: Roles,
    *,
    columns: str | Forecasts,
    seed: int,
) -> tuple[Encoder, CodedRows | pd.DataFrame]:
    """Learn an encoder from training rows; forecasts of those rows are out of fold.

    Where the sensitive columns are features, the group is read from them, not forecast.
    """
    if isinstance(columns, str) and columns in NUMERIC:
        encoder = TableEncoder.learn(features, numeric=NUMERIC[columns], unknown=roles.unknown)
        return encoder, encoder.encode(features).packed()
    if columns == CROSSED:
        products = CrossedEncoder.learn(features, unknown=roles.unknown)
        return products, products.transform(features)
    forecasts = _forecasts(columns, roles, seed)
    X = forecasts.fit_transform(features, y, sensitive_features=sensitive)
    return forecasts.encoder_, X


def _forecasts(columns: str | Forecasts, roles: Roles, seed: int) -> Forecasts:
    """Return forecasts to learn: a copy of the user's, or those with the table's settings."""
    if isinstance(columns, Forecasts):
        return Forecasts(**{**columns.get_params(), "unknown": roles.unknown})
    return Forecasts(
        group=FORECASTS[columns],
        group_columns=roles.sensitive if roles.include_sensitive else (),
        unknown=roles.unknown,
        random_state=seed,
    )
