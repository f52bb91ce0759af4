from itertools import combinations

import numpy as np
import pytest
import torch
from tests.unit.baselines.fair_mixup_reference import objective

from fairsmooth.baselines._kit.neural import build_mlp
from fairsmooth.baselines.fair_mixup.batches import Batches, Table
from fairsmooth.baselines.fair_mixup.step import MixupStep

N_ROWS, SIZE = 200, 20


def _drawn_batches(n_groups, n_blocks, few, seed=0):
    """Rows, few distinct or all so, with labels and what a step sees of them."""
    random = np.random.default_rng(seed)
    X = random.integers(0, 2, (N_ROWS, 3)) if few else random.normal(size=(N_ROWS, 3))
    y = random.integers(0, 2, N_ROWS)
    codes = np.arange(N_ROWS) % (n_groups * n_blocks)
    cells = [
        [
            torch.from_numpy(np.flatnonzero(codes == block * n_groups + own))
            for own in range(n_groups)
        ]
        for block in range(n_blocks)
    ]
    shares = torch.tensor(random.uniform(0.5, 2, (n_blocks, n_groups)))
    table = Table.of(X.astype(float), shares.numel() * SIZE, dtype=torch.float64)
    assert (table.number is not None) == few
    batches = Batches(table, y, cells, SIZE, shares)
    drawn = batches.draw(torch.Generator().manual_seed(seed))
    rows = torch.tensor(X, dtype=torch.float64)[drawn]
    labels = torch.tensor(y, dtype=torch.float64)[drawn]
    return batches, drawn, rows, labels, shares


@pytest.mark.parametrize("few", [True, False])
@pytest.mark.parametrize(("n_groups", "n_blocks"), [(2, 1), (2, 2), (4, 2)])
@pytest.mark.parametrize("hidden", [(), (6,), (6, 5), (5, 4, 6), (4, 5, 3, 6)])
def test_gradient_is_that_of_the_double_backward_pass(hidden, n_groups, n_blocks, few):
    batches, drawn, rows, labels, shares = _drawn_batches(n_groups, n_blocks, few)
    generator = torch.Generator().manual_seed(1)
    network = build_mlp((3, *hidden, 1), generator=generator, dtype=torch.float64)
    pairs = list(combinations(range(n_groups), 2))
    positions = torch.rand((n_blocks, len(pairs)), generator=generator, dtype=torch.float64)
    loss = objective(
        network, rows, labels, pairs=pairs, positions=positions, penalty_weight=3.0, shares=shares
    )
    expected = torch.cat(
        [each.reshape(-1) for each in torch.autograd.grad(loss, list(network.parameters()))]
    )
    step = MixupStep(network)
    batch = batches.compose(drawn, pairs)
    for _ in range(2):  # once more, on memory that has been used
        step.differentiate(batch, positions.view(-1), 3.0 / len(pairs))
        torch.testing.assert_close(step.parameters.grad, expected, rtol=1e-10, atol=1e-12)
