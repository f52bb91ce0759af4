"""Synthetic data whose true probabilities, groups and bias are known."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy.special import expit

from fairsmooth import _validate
from fairsmooth._random import numpy_generator
from fairsmooth._types import Floats
from fairsmooth.datasets._base import FairDataset
from fairsmooth.datasets._entry import DatasetEntry
from fairsmooth.exceptions import InputError

DESCRIPTION = "Rows of a logistic model whose groups, bias and shift are known."
LABEL = "the favourable outcome"


@dataclass(frozen=True, eq=False)
class BiasedTruth:
    """The model behind :func:`make_biased`.

    Attributes
    ----------
    groups : tuple of str
        Labels of the K groups; the first is favoured, the last disfavoured.
    group_weights : ndarray of shape (K,)
        Share of each group.
    means : ndarray of shape (K, d)
        Mean of the features in each group; their covariance is the identity.
    coefficients : ndarray of shape (d,)
        What the label would depend on without bias or disagreement.
    group_coefficients : ndarray of shape (K, d)
        What it depends on in each group.
    intercepts : ndarray of shape (K,)
        The bias of each group, in log-odds.
    noise : float
        Share of labels that a fair coin decided.
    """

    groups: tuple[str, ...]
    group_weights: Floats
    means: Floats
    coefficients: Floats
    group_coefficients: Floats
    intercepts: Floats
    noise: float

    def probability(self, X: ArrayLike, groups: ArrayLike) -> Floats:
        """Return the probability of label 1 for rows of given groups, shape (n_rows,)."""
        features = np.asarray(X, dtype=np.float64)
        codes = np.array([self.groups.index(group) for group in np.asarray(groups).tolist()], int)
        logit = (features * self.group_coefficients[codes]).sum(axis=1) + self.intercepts[codes]
        return self._with_noise(logit)

    def unbiased_probability(self, X: ArrayLike) -> Floats:
        """Return what it would be without bias or disagreement, shape (n_rows,)."""
        return self._with_noise(np.asarray(X, dtype=np.float64) @ self.coefficients)

    def _with_noise(self, logit: Floats) -> Floats:
        clean: Floats = (1.0 - self.noise) * expit(logit) + 0.5 * self.noise
        return clean


def make_biased(
    n_samples: int = 2000,
    n_features: int = 10,
    n_groups: int = 2,
    *,
    bias: float = 1.0,
    shift: float = 1.0,
    disagreement: float = 0.0,
    group_weights: Sequence[float] | None = None,
    signal: float = 2.0,
    noise: float = 0.0,
    truth_state: int = 0,
    random_state: int = 0,
) -> FairDataset:
    r"""Draw rows from a logistic model with K groups, a known bias and a known shift.

    With unit vectors :math:`u` (one for all) and :math:`u_k, v_k` (per group)
    drawn uniformly from ``truth_state``, group :math:`k = 0, \dots, K-1` has

    .. math::

        x \mid k &\sim N(\mathrm{shift} \cdot u_k,\ I_d), \\
        P(y = 1 \mid x, k) &= (1 - \mathrm{noise})\,
            s\bigl((\mathrm{signal} \cdot u + \mathrm{disagreement} \cdot v_k) \cdot x + b_k\bigr)
            + \tfrac12\,\mathrm{noise}, \\
        b_k &= \mathrm{bias} \cdot \Bigl(\tfrac12 - \tfrac{k}{K-1}\Bigr),

    where :math:`s` is the logistic function. So ``bias`` is the difference in
    log-odds between the first and the last group at equal features. The size of
    a group is ``n_samples * group_weights`` up to one row; rows are independent
    given their groups, and in random order.

    Parameters
    ----------
    n_samples, n_features, n_groups : int
        Rows, features d and groups K, at least 2 groups.
    bias : float
        Label bias, in log-odds; 0 for none.
    shift : float
        Distance of each group's mean from the origin.
    disagreement : float
        How far each group's coefficients are from the common ones.
    group_weights : sequence of float, optional
        Share of each group, positive; scaled to sum to 1. Equal if left out.
    signal : float
        Length of the common coefficients.
    noise : float
        Share of labels that a fair coin decides, between 0 and 1.
    truth_state : int
        Seed of the model. To test a model after the population has shifted, draw
        a second set with the same ``truth_state`` and another ``random_state``,
        ``shift`` or ``group_weights``.
    random_state : int
        Seed of the rows.

    Returns
    -------
    FairDataset
        With :class:`BiasedTruth` in ``truth``.

    Examples
    --------
    >>> data = make_biased(1000, n_groups=5, bias=2.0)
    >>> data.truth.intercepts
    array([ 1. ,  0.5,  0. , -0.5, -1. ])
    >>> data.truth.probability(data.X, data.sensitive_features).shape
    (1000,)
    """
    _at_least(1, n_samples=n_samples, n_features=n_features)
    _at_least(2, n_groups=n_groups)
    _validate.non_negative(shift=shift, disagreement=disagreement, signal=signal)
    _validate.in_range(0, 1, noise=noise)
    _finite(bias=bias)
    weights = _shares(group_weights, n_groups)

    model = numpy_generator(truth_state, "truth", n_features, n_groups)
    common = signal * _unit_vectors(model, 1, n_features)[0]
    truth = BiasedTruth(
        groups=tuple(f"g{k:0{len(str(n_groups - 1))}d}" for k in range(n_groups)),
        group_weights=weights,
        means=shift * _unit_vectors(model, n_groups, n_features),
        coefficients=common,
        group_coefficients=common + disagreement * _unit_vectors(model, n_groups, n_features),
        intercepts=bias * (0.5 - np.arange(n_groups) / (n_groups - 1)),
        noise=float(noise),
    )
    return _draw(truth, n_samples, numpy_generator(random_state, "rows", truth_state))


def _draw(truth: BiasedTruth, n_samples: int, random: np.random.Generator) -> FairDataset:
    ends = np.round(np.cumsum(truth.group_weights) * n_samples).astype(np.intp)
    sizes = np.diff(ends, prepend=0)
    if (sizes == 0).any():
        raise InputError(
            f"Expected at least one row in each of {len(sizes)} groups, got sizes "
            f"{sizes.tolist()}. Raise n_samples or change group_weights."
        )
    codes = random.permutation(np.repeat(np.arange(len(sizes)), sizes))
    features = truth.means[codes] + random.standard_normal((n_samples, truth.means.shape[1]))
    names = np.array(truth.groups)[codes]
    chance = truth.probability(features, names)
    return FairDataset(
        X=pd.DataFrame(features, columns=[f"x{j}" for j in range(features.shape[1])]),
        y=(random.random(n_samples) < chance).astype(np.int64),
        sensitive_features=pd.Series(names, name="group", dtype=str),
        name="synthetic",
        description=DESCRIPTION,
        label=LABEL,
        truth=truth,
    )


def _unit_vectors(random: np.random.Generator, n_vectors: int, n_features: int) -> Floats:
    vectors = random.standard_normal((n_vectors, n_features))
    unit: Floats = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    return unit


def _shares(group_weights: Sequence[float] | None, n_groups: int) -> Floats:
    weights = np.ones(n_groups) if group_weights is None else np.asarray(group_weights, float)
    if weights.shape != (n_groups,) or not (np.isfinite(weights) & (weights > 0)).all():
        raise InputError(
            f"Expected group_weights to hold {n_groups} positive numbers, got {group_weights!r}."
        )
    shares: Floats = weights / weights.sum()
    return shares


def _at_least(low: int, **values: int) -> None:
    for name, value in values.items():
        if value < low:
            raise InputError(f"Expected {name} >= {low}, got {name}={value!r}.")


def _finite(**values: float) -> None:
    for name, value in values.items():
        if not np.isfinite(value):
            raise InputError(f"Expected a finite {name}, got {name}={value!r}.")


def _load(encoding: str = "raw", sensitive: str = "group") -> FairDataset:
    """Take the arguments that every entry takes."""
    _validate.one_of(("raw",), encoding=encoding)
    _validate.one_of(("group",), sensitive=sensitive)
    return make_biased()


DATASETS = (
    DatasetEntry(
        name="synthetic",
        loader=_load,
        sensitive=("group",),
        encodings=("raw",),
        description=DESCRIPTION,
        label=LABEL,
        reference="make_biased of this library",
    ),
)
