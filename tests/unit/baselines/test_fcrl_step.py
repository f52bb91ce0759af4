import numpy as np
import pytest
import torch

from fairsmooth.baselines.fcrl.contrastive import FairRepresentation, fair_loss
from fairsmooth.baselines.fcrl.step import FairStep, grouped_batches
from fairsmooth.training.batching import shuffled_batches


def _networks(n_groups, dtype=torch.float64):
    networks = FairRepresentation(
        4, n_groups, n_components=3, hidden_size=7, generator=torch.Generator().manual_seed(0)
    )
    return networks.to(dtype)


def _rows(sizes, dtype=torch.float64):
    n_rows, generator = sum(sizes), torch.Generator().manual_seed(1)
    codes = torch.repeat_interleave(torch.arange(len(sizes)), torch.tensor(sizes))
    rows = torch.randn((n_rows, 4), generator=generator, dtype=dtype)
    labels = (torch.rand(n_rows, generator=generator) < 0.4).to(dtype)
    noise = torch.randn((n_rows, 3), generator=generator, dtype=dtype)
    return rows, labels, codes, noise


def _write(step, rows, labels, codes, noise, sizes):
    one_hot = np.eye(len(sizes), dtype=rows.numpy().dtype)[codes.numpy()]
    step.write_gradient(rows.numpy(), labels.numpy(), one_hot, noise.numpy(), list(sizes))


@pytest.mark.parametrize("sizes", [(20,), (7, 13), (1, 9), (5, 0, 8, 2)])
@pytest.mark.parametrize("weights", [(1.0, 0.5), (0.0, 0.0), (3.0, 0.2)])
def test_gradient_is_that_of_automatic_differentiation(sizes, weights):
    names = ("information_weight", "compression_weight")
    chosen = dict(zip(names, weights, strict=True))
    networks, batch = _networks(len(sizes)), _rows(sizes)
    expected = torch.autograd.grad(
        fair_loss(networks, *batch, **chosen), list(networks.parameters()), allow_unused=True
    )
    step = FairStep(networks, **chosen)
    # What an earlier batch left behind must not stay.
    step.parameters.values.grad.fill_(7.0)
    _write(step, *batch, sizes)
    for parameter, gradient in zip(networks.parameters(), expected, strict=True):
        assert gradient is not None
        torch.testing.assert_close(parameter.grad, gradient, rtol=1e-10, atol=1e-10)


def test_parameters_are_all_of_them_once():
    networks = _networks(2)
    n_parameters = sum(parameter.numel() for parameter in networks.parameters())
    step = FairStep(networks, information_weight=1.0, compression_weight=1.0)
    assert step.parameters.values.shape == (n_parameters,)


def test_batches_draw_what_one_batch_after_the_other_would_and_sort_it_by_group():
    codes = torch.randint(3, (50,), generator=torch.Generator().manual_seed(0))
    arguments = {"n_groups": 3, "n_components": 2}
    ours = grouped_batches(codes, 16, **arguments, generator=torch.Generator().manual_seed(5))
    generator = torch.Generator().manual_seed(5)
    plain = shuffled_batches(50, 16, generator=generator)
    for (rows, noise, sizes), expected in zip(ours, plain, strict=True):
        drawn = torch.randn((len(expected), 2), generator=generator)
        order = torch.argsort(codes[expected], stable=True)
        np.testing.assert_array_equal(rows, expected[order])
        np.testing.assert_array_equal(noise, drawn[order])
        assert sizes == torch.bincount(codes[expected], minlength=3).tolist()


def test_training_is_that_of_automatic_differentiation():
    sizes, weights = (30, 50), {"information_weight": 0.5, "compression_weight": 0.2}
    rows, labels, codes, _ = _rows(sizes, torch.float32)
    ours, theirs = _networks(2, torch.float32), _networks(2, torch.float32)
    step = FairStep(ours, **weights)
    options = {"lr": 0.01, "weight_decay": 1e-3}
    optimizers = (
        torch.optim.Adam([step.parameters.values], **options, fused=True),
        torch.optim.Adam(theirs.parameters(), **options),
    )
    generator = torch.Generator().manual_seed(3)
    for _ in range(40):
        noise = torch.randn((len(rows), 3), generator=generator)
        _write(step, rows, labels, codes, noise, sizes)
        optimizers[1].zero_grad()
        fair_loss(theirs, rows, labels, codes, noise, **weights).backward()
        for optimizer in optimizers:
            optimizer.step()
    for found, expected in zip(ours.parameters(), theirs.parameters(), strict=True):
        torch.testing.assert_close(found, expected, rtol=1e-3, atol=1e-4)
