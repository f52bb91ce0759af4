"""Steps against torch's optimisers, to the last bit."""

import subprocess
import sys

import pytest
import torch

from fairsmooth.training.steps import STEPS


@pytest.mark.parametrize(
    ("name", "optimiser"), [("sgd", torch.optim.SGD), ("adam", torch.optim.Adam)]
)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_steps_are_those_of_torch(name, optimiser, dtype):
    draws = torch.Generator().manual_seed(0)
    ours = torch.randn(3, 5, generator=draws, dtype=dtype).requires_grad_()
    theirs = ours.detach().clone().requires_grad_()
    steps, reference = STEPS[name](ours, 0.03), optimiser([theirs], lr=0.03)
    for size in (1.0, 1e-9, 0.0, 1e9, 1.0):
        gradient = size * torch.randn(3, 5, generator=draws, dtype=dtype)
        steps.step(gradient)
        theirs.grad = gradient.clone()
        reference.step()
        assert torch.equal(ours, theirs)
    kept = reference.state.get(theirs, {})
    assert kept.keys() == steps.state.keys()
    assert all(torch.equal(kept[each], steps.state[each]) for each in kept)


def test_a_network_is_trained_without_loading_a_compiler():
    program = (
        "import sys, numpy as np\n"
        "from fairsmooth import FairSmoothClassifier\n"
        "X, y = np.eye(4).repeat(9, 0), np.arange(36) % 2\n"
        "model = FairSmoothClassifier((2,), max_iter=1, batch_size=12)\n"
        "model.fit(X, y, sensitive_features=np.arange(36) // 4 % 2)\n"
        "print('torch._dynamo' in sys.modules)"
    )
    options = {"stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL, "text": True}
    done = subprocess.run([sys.executable, "-c", program], check=True, **options)
    assert done.stdout.strip() == "False"
