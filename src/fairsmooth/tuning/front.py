"""What can be had: the trials that no other beats, with how sure one can be of each."""

import base64
import io
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from html import escape
from typing import TYPE_CHECKING, Any

import pandas as pd

from fairsmooth.exceptions import InputError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from fairsmooth.tuning.judged import Interval

_FLAGS = ("on_front", "keeps_aim", "chosen", "baseline")


@dataclass(frozen=True)
class FrontPoint:
    """One trial, or one setting of a peer.

    Attributes
    ----------
    name : str
        "trial 7", say.
    parameters : dict
        The classifier's, and its columns.
    measured : dict
        Accuracy, gaps and, where there is one, the certified bound, on pooled folds.
    intervals : dict
        Of accuracy and gaps, each by itself at the front's confidence.
    on_front, keeps_aim, chosen, baseline : bool
    """

    name: str
    parameters: Mapping[str, Any]
    measured: "Mapping[str, float]"
    intervals: "Mapping[str, Interval]"
    on_front: bool = False
    keeps_aim: bool = False
    chosen: bool = False
    baseline: bool = False

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> "FrontPoint":
        """Rebuild a point from its plain data."""
        intervals = {n: (float(a), float(b)) for n, (a, b) in plain["intervals"].items()}
        measured = {name: float(value) for name, value in plain["measured"].items()}
        flags = (bool(plain[flag]) for flag in _FLAGS)
        return cls(str(plain["name"]), dict(plain["parameters"]), measured, intervals, *flags)


@dataclass(frozen=True)
class ParetoFront:
    """All finished trials; those on the front are beaten by none in one thing without losing more.

    What counts is accuracy and both gaps, and the certified bound where it is limited.

    Attributes
    ----------
    trials : tuple of FrontPoint
        By falling accuracy.
    limits : dict
        What the user will accept, by name.
    aim : dict
        What a trial had to show for that; fixed before the first one.
    n_rows, n_folds : int
        Rows judged, each once, and the folds they were cut into.
    confidence : float
        Of the intervals.
    peers : tuple of FrontPoint
        Other methods on the same rows, if they were asked for.
    """

    trials: tuple[FrontPoint, ...]
    limits: Mapping[str, float]
    aim: Mapping[str, Any]
    n_rows: int
    n_folds: int
    confidence: float
    peers: tuple[FrontPoint, ...] = ()

    @property
    def points(self) -> tuple[FrontPoint, ...]:
        """The front itself, by falling accuracy."""
        return tuple(point for point in self.trials if point.on_front)

    @property
    def chosen(self) -> FrontPoint:
        """The trial that was chosen."""
        return next(point for point in self.trials if point.chosen)

    def table(self) -> pd.DataFrame:
        """Return the front, the chosen and the baseline trial, and peers: one row each."""
        shown = [p for p in self.trials if p.on_front or p.chosen or p.baseline]
        return pd.DataFrame([_row(point) for point in (*shown, *self.peers)])

    def figure(self) -> "Figure":
        """Draw accuracy against both gaps, with intervals."""
        from fairsmooth.tuning.picture import draw_front

        return draw_front(self)

    def to_dict(self) -> dict[str, Any]:
        """Return plain data that JSON can hold."""
        return {
            **vars(self),
            "limits": dict(self.limits),
            "aim": dict(self.aim),
            "trials": [_plain(point) for point in self.trials],
            "peers": [_plain(point) for point in self.peers],
        }

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> "ParetoFront":
        """Rebuild a front from :meth:`to_dict`."""
        try:
            points = {
                name: tuple(FrontPoint.from_dict(point) for point in plain[name])
                for name in ("trials", "peers")
            }
            sizes = (int(plain["n_rows"]), int(plain["n_folds"]), float(plain["confidence"]))
            limits, aim = dict(plain["limits"]), dict(plain["aim"])
        except (KeyError, TypeError, ValueError) as error:
            raise InputError(
                "Expected a front as written by ParetoFront.to_dict, got one that does not fit."
            ) from error
        return cls(points["trials"], limits, aim, *sizes, peers=points["peers"])

    def _repr_html_(self) -> str:
        picture = io.BytesIO()
        self.figure().savefig(picture, format="png", dpi=110)
        encoded = base64.b64encode(picture.getvalue()).decode()
        caption = (
            f"{len(self.points)} of {len(self.trials)} finished trials are on the front; "
            f"{self.n_rows:,} rows in {self.n_folds} folds, intervals at {self.confidence:.0%}."
        )
        table = self.table().to_html(
            index=False, float_format="{:.4f}".format, na_rep="–", border=0
        )
        return (
            f'<p>{escape(caption)}</p><img alt="Pareto front" '
            f'src="data:image/png;base64,{encoded}">{table}'
        )


def _row(point: FrontPoint) -> dict[str, Any]:
    row: dict[str, Any] = {"name": point.name}
    for name, value in point.measured.items():
        row[name] = value
        if name in point.intervals:
            row[f"{name}_low"], row[f"{name}_high"] = point.intervals[name]
    return row | {flag: getattr(point, flag) for flag in _FLAGS}


def _plain(point: FrontPoint) -> dict[str, Any]:
    plain = asdict(point)
    plain["intervals"] = {name: list(ends) for name, ends in point.intervals.items()}
    return plain
