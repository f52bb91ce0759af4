"""What a module must be, and what happens to the parts of it that are not trained."""

import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import torch
from torch import nn

from fairsmooth import FairSmoothClassifier, InputError, smooth_probability
from fairsmooth.core.architecture import ModuleNetwork
from fairsmooth.core.build import build, shared_start
from fairsmooth.core.module_checks import require_one_logit_per_row

# A few epochs make a model; these tests are about what it is a function of.
pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

QUICK = {"random_state": 0, "max_iter": 3, "batch_size": 128, "n_draws": 64, "sigma": 0.2}


def fit(data, module, **parameters):
    clf = FairSmoothClassifier(module=module, **{**QUICK, **parameters})
    return clf.fit(data.X, data.y, sensitive_features=data.sensitive_features)


def half_frozen():
    torch.manual_seed(0)
    module = nn.Sequential(nn.Linear(5, 4), nn.Tanh(), nn.Linear(4, 1))
    module[0].requires_grad_(False)
    return module


class Lambda(nn.Module):
    def __init__(self, function, weight=None):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(5) if weight is None else weight)
        self.function = function

    def forward(self, rows):
        return self.function(rows, self.weight)


def test_frozen_parameters_are_neither_trained_nor_perturbed_nor_counted(biased):
    module = half_frozen()
    clf = fit(biased, module, max_iter=1, free_reference=False)
    assert clf.certificate_.n_parameters == clf.group_parameters_.shape[1] == 5
    kept = clf.architecture_.module[0].weight
    torch.testing.assert_close(kept, module[0].weight.double(), rtol=0, atol=0)
    # Smoothing the last layer alone is exact smoothing of a linear model on the features.
    with torch.no_grad():
        features = torch.tanh(module[0].double()(torch.tensor(biased.X.to_numpy()[:100])))
    exact = smooth_probability((), clf.parameters_, features.numpy(), sigma=0.2)
    scores, interval = smooth_probability(
        clf.architecture_, clf.parameters_, biased.X[:100], sigma=0.2, n_draws=400,
        return_interval=True, simultaneous=True,
    )  # fmt: skip
    assert ((interval[:, 0] <= exact) & (exact <= interval[:, 1])).all()
    assert np.abs(scores - exact).max() < 0.05


def test_the_flat_vector_is_the_trainable_part_in_torch_s_order():
    module = half_frozen()
    architecture = build(module, n_features=5, hidden_layer_sizes=(), activation="relu")
    trainable = [value for value in module.parameters() if value.requires_grad]
    expected = nn.utils.parameters_to_vector(trainable).detach().double()
    torch.testing.assert_close(shared_start(architecture, seed=0), expected)
    assert set(architecture.fixed) == {"0.weight", "0.bias"}


def test_shared_parameters_are_counted_and_perturbed_once(biased):
    module = nn.Sequential(nn.Linear(5, 5, bias=False), nn.Tanh(), nn.Linear(5, 5, bias=False))
    module[2].weight = module[0].weight
    clf = fit(biased, nn.Sequential(module, nn.Linear(5, 1)))
    assert clf.certificate_.n_parameters == 25 + 6


@pytest.mark.parametrize(
    ("module", "message"),
    [
        (nn.Sequential(nn.Linear(5, 2)), r"one real logit per row .* got shape \(64, 2\)"),
        (nn.Sequential(nn.Linear(4, 1)), "takes rows of 5 features, got Sequential, which failed"),
        (nn.Linear(5, 1).requires_grad_(False), "trainable parameters, got Linear, which has none"),
        (nn.Flatten(), "trainable parameters, got Flatten, which has none"),
        (nn.LazyLinear(1), "Call it once on a few rows first"),
        (
            Lambda(lambda x, w: x @ w.real, torch.ones(5, dtype=torch.complex64)),
            "Expected real parameters, got complex ones",
        ),
        (Lambda(lambda x, w: torch.complex(x @ w, x @ w)), "one real logit per row"),
        (Lambda(lambda x, w: (x @ w, x @ w)), "Expected one tensor of logits .* got tuple"),
        (Lambda(lambda x, w: (x @ w) / 0.0 * 0.0), "Expected finite logits .* in 64 of the first"),
        (
            Lambda(lambda x, w: nn.functional.dropout(x @ w, 0.5, training=True)),
            "same logits twice in evaluation mode",
        ),
        (
            nn.Sequential(nn.Linear(5, 1), nn.BatchNorm1d(1, track_running_stats=False)),
            "changes with the rest of the batch",
        ),
        ("a module", "to be a torch.nn.Module, got 'a module'"),
    ],
)
def test_modules_that_cannot_be_certified_are_refused(biased, module, message):
    with pytest.raises(InputError, match=message):
        fit(biased, module)


def test_a_module_that_cannot_be_copied_is_refused():
    module = nn.Linear(2, 1)
    module.lock = threading.Lock()
    with pytest.raises(InputError, match=r"copy\.deepcopy can copy, got Linear"):
        build(module, n_features=2, hidden_layer_sizes=(), activation="relu")


def test_trying_a_module_out_leaves_torch_s_randomness_alone():
    architecture = ModuleNetwork(nn.Linear(3, 1).double())
    before = torch.random.get_rng_state()
    require_one_logit_per_row(architecture, torch.ones(4, 3))
    assert torch.equal(before, torch.random.get_rng_state())


def test_threads_do_not_see_each_other_s_weights(biased):
    """Weights were swapped into one shared module while other threads ran it."""
    torch.manual_seed(0)
    module = nn.Sequential(
        nn.Linear(5, 6), nn.BatchNorm1d(6), nn.ReLU(), nn.Dropout(0.5), nn.Linear(6, 1)
    )
    clf = fit(biased, module, max_iter=2)
    alone = clf.predict_proba(biased.X)
    with ThreadPoolExecutor(8) as threads:
        together = list(threads.map(lambda _: clf.predict_proba(biased.X), range(40)))
    assert all(np.array_equal(scores, alone) for scores in together)


def test_threads_may_share_a_module_in_training_mode(biased):
    torch.manual_seed(0)
    module = nn.Sequential(nn.Linear(5, 6), nn.Dropout(0.5), nn.Linear(6, 1))
    flat = nn.utils.parameters_to_vector(module.parameters()).detach()
    rows = torch.tensor(biased.X.to_numpy(), dtype=torch.float32)

    def score(_):
        return smooth_probability(module, flat, rows, sigma=0.2, n_draws=64)

    alone = score(0)
    with ThreadPoolExecutor(8) as threads:
        together = list(threads.map(score, range(40)))
    assert all(torch.equal(scores, alone) for scores in together)
    assert module.training
