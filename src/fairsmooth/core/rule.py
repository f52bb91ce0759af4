"""A fitted model as one object that nothing changes any more."""

from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from fairsmooth._extras import installed, needs
from fairsmooth._types import Floats, Labels
from fairsmooth.core.calibration import Calibration
from fairsmooth.core.certificate import Certificate, certify
from fairsmooth.core.compact_scores import compact_scores, own_scores, parts_of
from fairsmooth.core.few_rows import FEW, few_linear_scores, linear_scores_and_intervals
from fairsmooth.core.group_intervals import intervals_by_group, own_intervals
from fairsmooth.core.network import Network
from fairsmooth.core.parameters import CENTERS
from fairsmooth.core.plane import in_a_plane, lost_in_sums
from fairsmooth.core.rows import Rows
from fairsmooth.exceptions import InputError

if TYPE_CHECKING:
    from fairsmooth.core.build import AnyNetwork

_ARRAYS = ("group_parameters", "parameters", "free_group_parameters")


@dataclass(frozen=True, eq=False)
class FittedRule:
    """Everything that a score, a decision and the certificate depend on, frozen at fit time.

    An estimator's constructor arguments may be set at any time; they take effect at the
    next ``fit``. Were scores computed from them, a changed ``sigma`` would move every
    score while the certificate still spoke of the old ones. Arrays are read-only.

    Attributes
    ----------
    architecture : Network or ModuleNetwork
        The base classifier.
    group_parameters : ndarray of shape (K, m)
        Each group's own parameters ``W_k``.
    parameters : ndarray of shape (m,)
        The overall parameters ``W*``.
    free_group_parameters : ndarray of shape (K, m) or None
        Trained without the tie.
    sigma, link, smoothing, n_draws, center
        As in the estimator.
    threshold : float
        Scores above it are decided positive.
    certificate : Certificate
        Of ``group_parameters``, and of the slope of the calibration.
    calibration : Calibration or None
        The map that every smooth score goes through, overall and groups' own.
    device : str
        Where scores are computed, unless a few rows of a linear model are; a model that was read
        from a file takes the best device of its machine.
    """

    architecture: "AnyNetwork"
    group_parameters: Floats
    parameters: Floats
    free_group_parameters: Floats | None
    sigma: float
    link: str
    smoothing: str
    n_draws: int
    center: str
    threshold: float
    certificate: Certificate
    calibration: Calibration | None = None
    device: str = "auto"

    @classmethod
    def of(
        cls,
        architecture: "AnyNetwork",
        group_parameters: Floats,
        *,
        groups: tuple[Hashable, ...],
        free_group_parameters: Floats | None = None,
        **options: Any,
    ) -> "FittedRule":
        """Average the groups' parameters, certify the average, and freeze it all.

        ``options`` are ``sigma``, ``link``, ``smoothing``, ``n_draws``, ``center``,
        ``threshold``, ``calibration`` and ``device``.
        """
        stacked = read_only(group_parameters)
        calibration = options.get("calibration")
        slope = 1.0 if calibration is None else calibration.slope
        sigma, center = float(options.pop("sigma")), str(options.pop("center"))
        return cls(
            architecture=architecture,
            group_parameters=stacked,
            parameters=read_only(CENTERS[center](stacked)),
            free_group_parameters=(
                None if free_group_parameters is None else read_only(free_group_parameters)
            ),
            sigma=sigma,
            center=center,
            certificate=certify(stacked, sigma=sigma, groups=groups, center=center, slope=slope),
            **options,
        )

    def scores(self, X: Floats | Rows, parameters: Floats) -> Floats:
        """Return the score of every row, for the overall or a group's parameters."""
        smooth = self.smooth_scores(X, parameters)
        return smooth if self.calibration is None else self.calibration.apply(smooth)

    def smooth_scores(self, X: Floats | Rows, parameters: Floats) -> Floats:
        """Return the smooth score of every row, before calibration."""
        if isinstance(X, Rows):
            if self._linear and len(X):
                rule, parameters, X = self._in_a_plane(X, parameters)
                return rule.smooth_scores(X, parameters)
            pieces = (self.smooth_scores(x, parameters) for x in X.dense_pieces())
            return np.concatenate([np.empty(0), *pieces])
        scores = None
        if self._has_short_way(X):
            scores = few_linear_scores(parameters, X, sigma=self.sigma, link=self.link)
        if scores is None:
            scores = self._smooth(X, parameters)
        return _numbers(scores)

    def scores_by_group(self, X: Floats | Rows) -> Iterator[tuple[slice, slice, Floats]]:
        """Yield the scores of all groups' own classifiers, a part of rows times groups at a time.

        Each part comes with its rows and its groups: of many compact rows and linear models some
        rows by all groups, since one product serves them all; of others all rows by one group.
        """
        exact = self._linear and self.smoothing in ("auto", "exact")
        if isinstance(X, Rows) and exact and len(X) > FEW and installed("torch"):
            for rows in parts_of(len(X), len(self.group_parameters)):
                yield rows, slice(0, len(self.group_parameters)), self._scores_together(X[rows])
            return
        for position, parameters in enumerate(self.group_parameters):
            scores = self.scores(X, parameters)
            yield slice(0, len(scores)), slice(position, position + 1), scores[:, None]

    def _scores_together(self, X: Rows) -> Floats:
        """Return the scores of all groups' own classifiers, (n, K)."""
        how: Any = {"sigma": self.sigma, "link": self.link, "device": self.device}
        found = compact_scores(self.group_parameters, X, **how)
        if found is None:
            return np.column_stack([self.scores(X, own) for own in self.group_parameters])
        return found if self.calibration is None else self.calibration.apply(found)

    def free_scores(self, X: Floats | Rows, codes: Labels) -> Floats:
        """Return the score of each row by the classifier of its group that was not tied, (n,).

        ``codes`` are the places of the rows' groups among those of the certificate.
        """
        assert self.free_group_parameters is not None
        free, found = self.free_group_parameters, None
        if isinstance(X, Rows) and self._linear and self.smoothing in ("auto", "exact"):
            found = own_scores(free, X, codes, sigma=self.sigma, link=self.link)
        if found is None:
            found = np.empty(len(codes))
            for group in np.unique(codes):
                rows = np.flatnonzero(codes == group)
                found[rows] = self.smooth_scores(X[rows], free[group])
        return found

    def scores_and_intervals(self, X: Floats | Rows) -> tuple[Floats, Floats]:
        """Return the overall score of every row, and the certified interval of every group's own.

        Of shapes (n,) and (n, K, 2); every row is smoothed once, where one way of
        smoothing gives both.
        """
        scores, low, high = self._scores_and_ends(X)
        return scores, intervals_by_group(self.certificate, low, high)

    def scores_and_own_intervals(self, X: Floats | Rows, codes: Labels) -> tuple[Floats, Floats]:
        """Return the overall scores, and of each row the interval of its own group, (n, 2).

        ``codes`` are the places of the rows' groups among those of the certificate.
        """
        scores, low, high = self._scores_and_ends(X)
        return scores, own_intervals(self.certificate, low, high, codes)

    def _scores_and_ends(
        self, X: Floats | Rows, lost: Floats | float = 0.0
    ) -> tuple[Floats, Floats, Floats]:
        """Return the overall scores, and what they are between: computing them has an error.

        ``lost`` is what else is not known of the smooth scores.
        """
        if isinstance(X, Rows):
            if self._linear and len(X):
                rule, _, plane = self._in_a_plane(X, self.parameters)
                lost = lost_in_sums(X, self.parameters, sigma=self.sigma, link=self.link)
                return rule._scores_and_ends(plane, lost)
            parts = [self._scores_and_ends(piece) for piece in X.dense_pieces()]
            columns = zip((np.empty(0),) * 3, *parts, strict=True)
            scores, low, high = (np.concatenate(column) for column in columns)
            return scores, low, high
        scores, computed = self._smooth(X, self.parameters, return_interval=True)
        _numbers(scores)
        low, high = np.clip([computed[:, 0] - lost, computed[:, 1] + lost], 0.0, 1.0)
        if self.calibration is not None:
            scores = self.calibration.apply(scores)
            low, high = self.calibration.outward(low, high)
        if self._has_short_way(X) or self._intervals_have_their_own_draws:
            scores = self.scores(X, self.parameters)  # to the last digit
        return scores, low, high

    @property
    def notices_infinity(self) -> bool:
        """Whether scoring refuses rows that are not finite, so that none need look before."""
        exact = self.smoothing in ("auto", "exact") and installed("torch")
        return self._linear and exact and self.sigma > 0.0

    @property
    def _linear(self) -> bool:
        network = self.architecture
        return isinstance(network, Network) and not network.hidden_layer_sizes

    def _in_a_plane(self, X: Rows, parameters: Floats) -> "tuple[FittedRule, Floats, Floats]":
        """Return a rule of two columns with the same scores, or this one, with rows for it."""
        turned = in_a_plane(X, parameters)
        if turned is None:
            return self, parameters, X.toarray()
        rule = replace(self, architecture=Network(2), parameters=read_only(turned[0]))
        return rule, *turned

    def _has_short_way(self, X: Floats) -> bool:
        return self._linear and len(X) <= FEW and self.smoothing in ("auto", "exact")

    @property
    def _intervals_have_their_own_draws(self) -> bool:
        # Hidden noise is drawn from Sobol points for a score, and in pairs for an interval.
        network = self.architecture
        deep = isinstance(network, Network) and len(network.hidden_layer_sizes) > 1
        return self.smoothing == "layerwise" or (self.smoothing == "auto" and deep)

    def _smooth(self, X: Floats, parameters: Floats, *, return_interval: bool = False) -> Any:
        if not installed("torch"):
            if not (self._linear and self.smoothing in ("auto", "exact")):
                raise needs("train", "Scores of networks and sampled scores")
            found = linear_scores_and_intervals(parameters, X, sigma=self.sigma, link=self.link)
            return found if return_interval else found[0]
        from fairsmooth.core.smoothing import smooth_probability

        return smooth_probability(
            self.architecture,
            parameters,
            X,
            sigma=self.sigma,
            link=self.link,
            method=self.smoothing,
            n_draws=self.n_draws,
            return_interval=return_interval,
            device=self.device,
        )

    def __setstate__(self, state: Mapping[str, Any]) -> None:
        # Copies and pickles of arrays are writeable, whatever their originals were.
        for name, value in state.items():
            frozen = read_only(value) if name in _ARRAYS and value is not None else value
            object.__setattr__(self, name, frozen)


def read_only(array: Floats) -> Floats:
    """Return a copy in C order that cannot be written to.

    Solvers leave arrays in either order, and sums over another order differ in the last digit.
    """
    copied = np.array(array, dtype=np.float64, order="C")
    copied.setflags(write=False)
    return copied


def _numbers(scores: Floats) -> Floats:
    if np.isnan(scores).any():
        row = int(np.flatnonzero(np.isnan(scores))[0])
        raise InputError(
            f"Expected a score for every row, got NaN for row {row}: its values are too large "
            "for this model, or the module returned NaN."
        )
    return scores
