r"""Many small problems at once: every group's own loss, without the tie.

With ``alpha = 0`` the objective falls apart into one problem per group. A solver for the sum
moves at the pace of the slowest group; here every group takes quasi-Newton steps of its own
length, and one pass over the rows serves all groups that are not done. Steps are taken in
coordinates in which second derivatives at the start are near 1: :math:`W = W_0 + L^{-\top} v`,
with :math:`L L^\top` those derivatives, so that the gradient in ``v`` is :math:`L^{-1} g`.
"""

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

from fairsmooth.training.convergence import Solution, require_finite

# Objective and gradient of every group, (K,) and (K, m), at parameters (K, m).
Evaluate = Callable[[Tensor], tuple[Tensor, Tensor]]
# The same of some groups alone, which are told by their numbers.
Narrowed = Callable[[Tensor], Evaluate]
# Of the last steps: the step, the change of the gradient, and the inverse of their product.
_Pairs = deque[tuple[Tensor, Tensor, Tensor]]

_MEMORY = 6
# A step must bring this share of what the slope promises; the values have rounding errors.
_ENOUGH, _ROUNDING = 1e-4, 1e-14
# A step is cut to between these shares of itself, and given up when it is nothing.
_LEAST_CUT, _MOST_CUT, _NOTHING = 0.1, 0.5, 1e-12
_RESOLVED = 1e-7
# Groups that are done are left out where at most this share of those gone over is not.
_NARROWER = 2 / 3


@dataclass(frozen=True, eq=False)
class _Problems:
    """Some groups' functions, in the coordinates in which steps are taken."""

    evaluate: Evaluate
    start: Tensor
    factors: Tensor

    def at(self, moved: Tensor) -> tuple[Tensor, Tensor]:
        """Return values and gradients of groups that moved this far."""
        value, gradient = self.evaluate(self.parameters(moved))
        return value, _solved(gradient, self.factors)

    def parameters(self, moved: Tensor) -> Tensor:
        """Return where they are."""
        return self.start + _solved(moved, self.factors, transposed=True)

    def of(self, groups: Tensor, evaluate: Evaluate) -> "_Problems":
        """Return some of the groups, whose functions are these."""
        factors = self.factors[groups] if self.factors.ndim == 3 else self.factors
        return _Problems(evaluate, self.start[groups], factors)


@dataclass
class _State:
    """Where each group is, by how far it moved from its start, and the step that it tries next."""

    moved: Tensor
    value: Tensor
    gradient: Tensor
    direction: Tensor
    length: Tensor
    pairs: _Pairs

    @classmethod
    def first(cls, problems: _Problems) -> "_State":
        """Return all groups at their start."""
        nowhere = torch.zeros_like(problems.start)
        value, gradient = problems.at(nowhere)
        length = torch.ones_like(value)
        return cls(nowhere, value, gradient, -gradient, length, _Pairs(maxlen=_MEMORY))

    def open(self, tol: float) -> Tensor:
        """Tell which groups are not done."""
        return (self.gradient.abs().amax(-1) > tol) & (self.length > _NOTHING)

    def of(self, groups: Tensor) -> "_State":
        """Return some of the groups."""
        pairs = ((step[groups], change[groups], i[groups]) for step, change, i in self.pairs)
        return _State(
            self.moved[groups],
            self.value[groups],
            self.gradient[groups],
            self.direction[groups],
            self.length[groups],
            _Pairs(pairs, maxlen=_MEMORY),
        )


def solve_apart(
    evaluate: Evaluate,
    start: Tensor,
    *,
    factors: Tensor,
    max_iter: int,
    tol: float,
    narrowed: Narrowed | None = None,
) -> Solution:
    """Minimise every group's own function, all in step.

    Parameters
    ----------
    evaluate : callable
        Values ``(K,)`` and gradients ``(K, m)`` at ``(K, m)``; row ``k`` depends on row
        ``k`` alone.
    start : Tensor of shape (K, m)
    factors : Tensor of shape (K, m, m), (m, m) or (m,)
        Cholesky factors of second derivatives at the start, each group's own or shared, or
        roots of a diagonal; they only affect speed. Making them anew on the way took more
        time than it saved.
    max_iter : int
        Most evaluations.
    tol : float
        A group is done when no entry of its gradient, rescaled by its factor, exceeds it.
    narrowed : callable or None
        Gives the function of some groups alone, so that the slowest groups do not take the
        time of all; None if it would take that time anyway.

    Returns
    -------
    Solution
    """
    problems = _Problems(evaluate, start, factors)
    state = _State.first(problems)
    # Which groups are still gone over, what was found of the others, and how far those are off.
    groups, found, largest = torch.arange(len(start)), start.clone(), 0.0
    open_groups, steps = state.open(tol), 0
    while open_groups.any() and steps < max_iter:
        steps += 1
        step = (state.length * open_groups).unsqueeze(-1) * state.direction
        value, gradient = problems.at(state.moved + step)
        require_finite(value.sum(), gradient, where=f"in iteration {steps}")
        accepted = _accept(state, step, value, gradient, open_groups)
        fresh = _towards_minimum(state)
        state.direction = torch.where(accepted.unsqueeze(-1), fresh, state.direction)
        open_groups = state.open(tol)
        kept = torch.nonzero(open_groups).squeeze(1)
        if narrowed is not None and 0 < len(kept) <= _NARROWER * len(groups):
            found[groups] = problems.parameters(state.moved)
            largest = max(largest, float(state.gradient[~open_groups].abs().amax()))
            groups, state, open_groups = groups[kept], state.of(kept), open_groups[kept]
            problems = problems.of(kept, narrowed(groups))
    found[groups] = problems.parameters(state.moved)
    largest = max(largest, float(state.gradient.abs().amax()))
    unmet = None
    if largest > max(tol, _RESOLVED):
        unmet = f"after {steps} iterations the largest entry of the gradient is {largest:.2g}"
    return Solution(found, steps, unmet)


def _accept(state: _State, step: Tensor, value: Tensor, gradient: Tensor, tried: Tensor) -> Tensor:
    """Move the groups whose step fell far enough, shorten the step of the others."""
    promised = (step * state.gradient).sum(-1)
    slack = _ROUNDING * (1.0 + state.value.abs())
    accepted = tried & (value <= state.value + _ENOUGH * promised + slack)
    # The least value of the parabola through what is known along the step.
    bend = (value - state.value - promised).clamp_min(torch.finfo(value.dtype).tiny)
    cut = (-0.5 * promised / bend).clamp(_LEAST_CUT, _MOST_CUT)
    state.length = torch.where(accepted, 1.0, torch.where(tried, state.length * cut, state.length))
    mask = accepted.unsqueeze(-1)
    change = torch.where(mask, gradient - state.gradient, 0.0)
    step = torch.where(mask, step, 0.0)
    product = (step * change).sum(-1)
    # A group that did not move, or in which the gradient did not turn, learns nothing.
    inverse = torch.where(product > 0.0, 1.0 / product.clamp_min(1e-300), 0.0)
    state.pairs.append((step, change, inverse))
    state.moved = state.moved + step
    state.value = torch.where(accepted, value, state.value)
    state.gradient = torch.where(mask, gradient, state.gradient)
    return accepted


def _towards_minimum(state: _State) -> Tensor:
    """Return L-BFGS directions of all groups, by the two-loop recursion."""
    rest, shares = state.gradient.clone(), []
    for step, change, inverse in reversed(state.pairs):
        share = inverse * (step * rest).sum(-1)
        rest.addcmul_(share.unsqueeze(-1), change, value=-1.0)
        shares.append(share)
    # As long as the last step says: a group's own loss may bend far less than its factor.
    _, change, inverse = state.pairs[-1]
    bend = inverse * change.square().sum(-1)
    rest /= torch.where(bend > 0.0, bend, 1.0).unsqueeze(-1)
    for (step, change, inverse), share in zip(state.pairs, reversed(shares), strict=True):
        rest.addcmul_((share - inverse * (change * rest).sum(-1)).unsqueeze(-1), step)
    return -rest


def _solved(rows: Tensor, factors: Tensor, *, transposed: bool = False) -> Tensor:
    """Return ``L⁻¹ g`` of every row, or ``L⁻ᵀ g``."""
    if factors.ndim == 1:
        return rows / factors
    triangle = factors.mT if transposed else factors
    columns = rows.unsqueeze(-1) if factors.ndim == 3 else rows.mT
    solved = torch.linalg.solve_triangular(triangle, columns, upper=transposed)
    return solved.squeeze(-1) if factors.ndim == 3 else solved.mT
