"""Exact smooth scores of compact rows by several linear models at once.

A linear model's smooth score depends on the row's logit and on its length alone. The length is the
same for every model, and the logits of all models are one product with the sparse matrix
of the rows, which adds the models' weights of a level side by side.
"""

import math
from itertools import pairwise
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from fairsmooth._types import Floats, Labels
from fairsmooth.core.few_rows import smooth_logits
from fairsmooth.core.rows import CodedRows, DenseRows, Rows, SparseRows

# Logits worked on at once: few enough to stay in a processor's cache.
_ENTRIES = 2**18
# Scores held at once, 4 MiB of them.
_MOST_SCORES = 2**19


def compact_scores(
    parameters: Floats, X: Rows, *, sigma: float, link: str, device: str
) -> Floats | None:
    """Return the smooth score of every row by every linear model, or None where it overflows.

    Each is within the error claimed for linear models; one model at a time differs by a few
    units in the last place.

    Parameters
    ----------
    parameters : ndarray of shape (M, d + 1)
        Weights of every model, then its intercept.
    X : Rows
        Of ``d`` features.
    sigma : float
        Standard deviation of the smoothing noise.
    link : {"logistic", "probit"}
        What turns the logit into a score.
    device : str
        Where logits are smoothed.

    Returns
    -------
    ndarray of shape (n, M) or None
    """
    from fairsmooth.core.smoothing.columns import smooth_columns

    table = np.ascontiguousarray(X.table(parameters).T)
    scores = np.empty((len(X), len(parameters)))
    size = max(1, min(X.chunk_rows, _ENTRIES // len(parameters)))
    with np.errstate(over="ignore", invalid="ignore"):
        variance = sigma * sigma * (X.squared_norms() + 1.0)
        for start in range(0, len(X), size):
            rows = slice(start, start + size)
            logits = _logits(X, rows, table)
            # One sum tells, unless finite numbers overflow it: then there is the other way.
            if not math.isfinite(float(logits.sum() + variance[rows].sum())):
                return None
            scores[rows] = smooth_columns(logits, variance[rows], link=link, device=device)
    return scores


def own_scores(
    parameters: Floats, X: Rows, codes: Labels, *, sigma: float, link: str
) -> Floats | None:
    """Return the smooth score of every row by the linear model of its own group, (n,).

    None where a logit overflows. ``codes`` are the rows' places among ``parameters`` (K, d + 1).
    """
    order = np.argsort(codes, kind="stable")
    rows, table, scores = X.take(order), X.table(parameters), np.empty(len(X))
    with np.errstate(over="ignore", invalid="ignore"):
        variance = sigma * sigma * (rows.squared_norms() + 1.0)
        for start, stop, block in rows.blocks(codes[order]):
            logits = block.logits(table)
            if not math.isfinite(float(logits.sum() + variance[start:stop].sum())):
                return None
            some = smooth_logits(logits, variance[start:stop], link=link)
            scores[order[start:stop]] = some
    return scores


def parts_of(n_rows: int, n_models: int) -> list[slice]:
    """Return rows in parts of equal size, so that scores by all models take a few megabytes.

    Examples
    --------
    >>> parts_of(5000, 200)
    [slice(0, 2500, None), slice(2500, 5000, None)]
    """
    count = math.ceil(n_rows / max(1, _MOST_SCORES // n_models))
    edges = [n_rows * part // count for part in range(count)] + [n_rows]
    return [slice(*pair) for pair in pairwise(edges)]


def _logits(X: Rows, rows: slice, table: Floats) -> Floats:
    """Return logits ``(n, M)`` of some rows for a table ``(T, M)``."""
    if isinstance(X, CodedRows):
        return _coded_logits(X, rows, table)
    assert isinstance(X, DenseRows | SparseRows)  # there are no others
    return np.asarray(X.X[rows] @ table[:-1] + table[-1])


def _coded_logits(X: CodedRows, rows: slice, table: Floats) -> Floats:
    codes = X.codes[rows]
    places = np.add(codes, X.offsets.astype(np.int32), dtype=np.int32)
    ends = np.arange(len(codes) + 1, dtype=np.int32) * np.int32(places.shape[1])
    n_levels = len(X.features)
    entries = np.ones(places.size), places.ravel(), ends
    matrix: Any = csr_array(entries, shape=(len(codes), n_levels))
    logits = np.asarray(matrix @ table[:n_levels])
    if len(X.number_features):
        logits += X.numbers[rows] @ table[n_levels:-1] + table[-1]
    return logits
