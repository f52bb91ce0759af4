"""Smooth scores of any classifier: picks the method, streams the rows, returns honest intervals."""

import copy
from typing import Any, Literal, TypedDict, Unpack, overload

import numpy as np
import torch
from numpy.typing import ArrayLike
from torch import Tensor, nn

from fairsmooth import _validate
from fairsmooth.core.architecture import Architecture, ModuleNetwork, Network
from fairsmooth.core.device import scoring_device
from fairsmooth.core.smoothing.checked import all_finite, is_linear, smoothed
from fairsmooth.core.smoothing.exact import is_exact
from fairsmooth.core.smoothing.linear import LINKS
from fairsmooth.core.smoothing.methods import SMOOTHERS, Task
from fairsmooth.core.smoothing.rounding import round_outward
from fairsmooth.exceptions import InputError

METHODS = ("auto", "exact", "layerwise", "monte_carlo")


class Options(TypedDict, total=False):
    """Keywords of :func:`smooth_probability` that do not change the type of its result."""

    link: str
    method: str
    n_draws: int
    random_state: int
    confidence: float
    tolerance: float | None
    simultaneous: bool
    chunk_rows: int | None
    device: str | None


Base = Architecture | nn.Module | tuple[int, ...]


@overload
def smooth_probability(
    architecture: Base,
    parameters: ArrayLike | Tensor,
    X: Tensor,
    *,
    sigma: float,
    return_interval: Literal[False] = False,
    **options: Unpack[Options],
) -> Tensor: ...
@overload
def smooth_probability(
    architecture: Base,
    parameters: ArrayLike | Tensor,
    X: Tensor,
    *,
    sigma: float,
    return_interval: Literal[True],
    **options: Unpack[Options],
) -> tuple[Tensor, Tensor]: ...
@overload
def smooth_probability(
    architecture: Base,
    parameters: ArrayLike | Tensor,
    X: Any,
    *,
    sigma: float,
    return_interval: bool = False,
    **options: Unpack[Options],
) -> Any: ...
def smooth_probability(  # noqa: PLR0913 - the contract names them all, by keyword
    architecture: Base,
    parameters: ArrayLike | Tensor,
    X: Any,
    *,
    sigma: float,
    link: str = "logistic",
    method: str = "auto",
    n_draws: int = 4096,
    random_state: int = 0,
    return_interval: bool = False,
    confidence: float = 0.99,
    tolerance: float | None = None,
    simultaneous: bool = False,
    chunk_rows: int | None = None,
    device: str | None = None,
) -> Any:
    r"""Return the smooth score :math:`N(W)(x) = E f(x; W + \sigma Z)` of every row.

    Deterministic: exact up to about 5e-7 for linear models and networks with one hidden
    layer, and a fixed function of ``random_state`` otherwise. Only parameters are
    perturbed; a module's buffers (batch normalisation) are not, and modules run in
    evaluation mode.

    Parameters
    ----------
    architecture : Network, ModuleNetwork, nn.Module or tuple of int
        The base classifier. A tuple gives the widths of ReLU layers.
    parameters : array-like or Tensor of shape (m,)
        Flat parameters in the order of ``torch.nn.utils.parameters_to_vector``.
    X : array-like, DataFrame or Tensor of shape (n, ...)
        Rows.
    sigma : float
        Standard deviation of the smoothing noise. With 0 nothing is smoothed and the
        base classifier's score is returned.
    link : {"logistic", "probit", "step"}
        What turns the logit into a score.
    method : {"auto", "exact", "layerwise", "monte_carlo"}
        "exact" for at most one hidden layer, "layerwise" for any ``Network``,
        "monte_carlo" for everything; "auto" takes the first that applies.
    n_draws : int
        Draws of the sampled methods; with ``tolerance``, the first number of draws.
    random_state : int
        Seed of the sampled methods.
    return_interval : bool
        Return ``(probability, interval)``. For exact methods the interval is the error
        claimed for the computation, proven but for two parts that are *measured*: the
        complex error function, and the rule of growing intervals for rows whose scales
        are far apart. Rows that would take too much work get a wide one, with a warning.
        For sampled methods it holds for finite samples: each row's contains the smooth
        score with probability at least ``confidence``. Ends are rounded outward.
    confidence : float
        Of the sampled intervals, in (0, 1).
    tolerance : float, optional
        Draw until every interval is at most this wide; the price of looking several
        times is included in the confidence.
    simultaneous : bool
        Make ``confidence`` hold for all rows at once.
    chunk_rows : int, optional
        Rows worked on at once; without it 16,384 for linear models and 4,096 for others.
        Scores of a hidden layer depend on it, and on the rows that share a chunk, by less
        than the error that ``return_interval`` claims: 5e-7, unless a row would take too much
        work. Beyond 1e-5 a warning says so.
    device : {"auto", "cpu", "cuda", "mps"}, optional
        Where scores are computed; without it where ``X`` is. Sampled noise is drawn there, from
        that device's own stream, but for Sobol points. Only the CPU is tested. "mps" has no
        float64, so that scores are computed on the CPU.

    Returns
    -------
    probability : ndarray or Tensor of shape (n,)
        A Tensor of the type (at least float32) and on the device of ``X`` if ``X`` is a
        Tensor, else a float64 ndarray.
        It carries no gradient; training uses ``smooth_network`` and its companions.
    interval : ndarray or Tensor of shape (n, 2)
        Only with ``return_interval``.

    References
    ----------
    Section 3.2, Eq. (9); intervals replace Eq. (20).

    Examples
    --------
    >>> smooth_probability((), [2.0, -1.0, 0.0], [[1.0, 1.0], [0.0, 3.0]], sigma=0.5)
    array([0.7037..., 0.1017...])
    """
    _validate.non_negative(sigma=sigma)
    _validate.one_of(LINKS, link=link)
    _validate.one_of(METHODS, method=method)
    _validate.positive(n_draws=n_draws, chunk_rows=1 if chunk_rows is None else chunk_rows)
    _check_confidence(confidence, tolerance)
    rows = _as_rows(X)
    place = rows.device if device is None else scoring_device(device)
    base = _as_architecture(architecture, rows)
    if device is not None:
        base = _brought(base, place)
    weights = _as_parameters(parameters, base, place)
    allowed = (1.0 - confidence) / (max(len(rows), 1) if simultaneous else 1)
    task = Task(
        base,
        weights,
        sigma=sigma,
        link=link,
        n_draws=n_draws,
        seed=random_state,
        delta=allowed if return_interval or tolerance is not None else None,
        tolerance=tolerance,
    )
    smoother = SMOOTHERS[
        "exact" if sigma == 0 and isinstance(base, Network) else _choose(method, base)
    ]
    with torch.no_grad():
        # Splitting no rows still gives one empty chunk, and so an empty result.
        results = [
            smoothed(smoother, task, chunk) for chunk in rows.split(chunk_rows or _chunk_rows(base))
        ]
    probability = torch.cat([result[0] for result in results]).cpu()
    interval = torch.cat([result[1] for result in results]).cpu() if return_interval else None
    if not isinstance(X, Tensor):
        return probability.numpy() if interval is None else (probability.numpy(), interval.numpy())
    dtype = torch.promote_types(X.dtype if X.is_floating_point() else weights.dtype, torch.float32)
    probability = probability.to(X.device, dtype)
    if interval is None:
        return probability
    return probability, round_outward(interval, dtype).to(X.device)


def _chunk_rows(base: Architecture) -> int:
    # What a chunk is worked on with must fit a cache, and be long enough to pay for the calls.
    return 16_384 if is_linear(base) else 4_096


def _choose(method: str, base: Architecture) -> str:
    if method == "auto":
        if is_exact(base):
            return "exact"
        return "layerwise" if isinstance(base, Network) else "monte_carlo"
    if method == "exact" and not is_exact(base):
        raise InputError(
            "Expected a network with at most 1 hidden layer for method='exact', got "
            f"{_describe(base)}. Use method='auto'."
        )
    if method == "layerwise" and not isinstance(base, Network):
        raise InputError(
            f"Expected a Network for method='layerwise', got {_describe(base)}. "
            "Use method='monte_carlo'."
        )
    return method


def _describe(base: Architecture) -> str:
    if isinstance(base, Network):
        return f"hidden_layer_sizes={base.hidden_layer_sizes}"
    return type(base.module).__name__ if isinstance(base, ModuleNetwork) else type(base).__name__


def _as_rows(X: Any) -> Tensor:
    if isinstance(X, Tensor):
        rows = X.detach()
    else:
        # A copy only where torch could not share the memory.
        rows = torch.from_numpy(np.require(X, np.float64, ("C", "W")))
    if rows.ndim < 2:
        raise InputError(f"Expected X with one row per example, got shape {tuple(rows.shape)}.")
    return rows


def _as_architecture(architecture: Any, rows: Tensor) -> Architecture:
    if isinstance(architecture, nn.Module):
        return ModuleNetwork(architecture)
    if isinstance(architecture, tuple | list):
        return Network(rows.shape[1], tuple(architecture))
    if isinstance(architecture, Network) and architecture.n_features != rows.shape[-1]:
        raise InputError(
            f"Expected X with {architecture.n_features} columns, got shape {tuple(rows.shape)}."
        )
    base: Architecture = architecture
    return base


def _brought(base: Architecture, place: torch.device) -> Architecture:
    """Return a copy of a module on another device; what a ``Network`` computes is anywhere."""
    if not isinstance(base, ModuleNetwork):
        return base
    held = {value.device for value in (*base.module.parameters(), *base.module.buffers())}
    return base if held <= {place} else ModuleNetwork(copy.deepcopy(base.module).to(place))


def _as_parameters(parameters: Any, base: Architecture, place: torch.device) -> Tensor:
    """Bring flat parameters to where, and in the type in which, they will be used."""
    if isinstance(parameters, Tensor):
        weights = parameters.detach()
    else:
        weights = torch.from_numpy(np.array(parameters, dtype=np.float64))
    if weights.shape != (base.n_parameters,):
        raise InputError(
            f"Expected {base.n_parameters} parameters in one flat vector, "
            f"got shape {tuple(weights.shape)}."
        )
    if not all_finite(weights):
        raise InputError("Expected finite parameters, got NaN or infinity.")
    if isinstance(base, ModuleNetwork):
        trainable = (value for value in base.module.parameters() if value.requires_grad)
        return weights.to(next(trainable, weights))
    return weights.to(place, torch.promote_types(weights.dtype, torch.float32))


def _check_confidence(confidence: float, tolerance: float | None) -> None:
    if not 0.0 < confidence < 1.0:
        raise InputError(f"Expected 0 < confidence < 1, got confidence={confidence!r}.")
    if tolerance is not None:
        _validate.positive(tolerance=tolerance)
