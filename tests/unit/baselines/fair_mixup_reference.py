"""Fair Mixup's objective as published: input gradients, differentiated again."""

import torch
from torch import nn


def slopes(network, start, end, positions):
    """Slope of the mean probability of paired rows at one point of every path."""
    t = positions[..., None, None]
    mixed = (t * start + (1 - t) * end).requires_grad_()
    (gradient,) = torch.autograd.grad(torch.sigmoid(network(mixed)).sum(), mixed, create_graph=True)
    return (gradient * (end - start)).sum(dim=-1).mean(dim=-1)


def objective(network, rows, labels, *, pairs, positions, penalty_weight, shares):
    """Risk plus penalty of rows ``[block, group, row, column]``, labels ``[block, group, row]``.

    ``positions[block, pair]``, ``shares[block, group]``.
    """
    logits = network(rows).squeeze(-1)
    losses = nn.functional.binary_cross_entropy_with_logits(logits, labels, reduction="none")
    risk = (losses.mean(dim=2) * shares).sum() / shares.sum()
    penalty = 0.0
    for block in range(len(rows)):
        for number, (first, second) in enumerate(pairs):
            slope = slopes(
                network, rows[block, first], rows[block, second], positions[block, number]
            )
            penalty = penalty + slope.abs() / len(pairs)
    return risk + penalty_weight * penalty
