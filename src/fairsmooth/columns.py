"""Columns made of other columns: what a user imports; the room ``data`` makes them."""

from fairsmooth.data.forecasts.encoder import ForecastEncoder
from fairsmooth.data.forecasts.learning import Forecasts

__all__ = ["ForecastEncoder", "Forecasts"]
