"""The encoders there are, and which of them a file speaks of."""

from collections.abc import Mapping
from typing import Any

from fairsmooth._types import Floats
from fairsmooth.data import crossed
from fairsmooth.data.crossed import CrossedEncoder
from fairsmooth.data.encoding import TableEncoder
from fairsmooth.data.forecasts.encoder import KIND, ForecastEncoder

Encoder = TableEncoder | CrossedEncoder | ForecastEncoder


def read_encoder(plain: Mapping[str, Any], tensors: Mapping[str, Floats]) -> Encoder:
    """Rebuild an encoder from its plain data and the tensors of a file, trusting neither.

    A :class:`TableEncoder` does not name its kind; it was the only one for long.
    """
    if plain.get("kind") == KIND:
        return ForecastEncoder.from_dict(plain, tensors)
    if plain.get("kind") == crossed.KIND:
        return CrossedEncoder.from_dict(plain)
    return TableEncoder.from_dict(plain)
