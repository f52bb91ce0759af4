import copy

import numpy as np
import pytest
import torch

from fairsmooth import FairSmoothClassifier
from fairsmooth._random import torch_generator
from fairsmooth.core import device as devices
from fairsmooth.core.architecture import Network
from fairsmooth.core.device import resolve_device, scoring_device
from fairsmooth.core.smoothing import probability, smooth_probability
from fairsmooth.exceptions import InputError

ROWS = np.linspace(-1.0, 1.0, 12).reshape(4, 3)


def test_names_of_devices_are_checked():
    assert resolve_device("cpu") == torch.device("cpu")
    with pytest.raises(InputError, match="one of 'auto', 'cpu', 'cuda', 'mps', got 'tpu'"):
        resolve_device("tpu")


def test_auto_takes_cuda_where_there_is_one(monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    assert resolve_device("auto").type == "cpu"
    with pytest.raises(InputError, match="got 'cuda', which this machine has not"):
        resolve_device("cuda")
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    assert resolve_device("auto").type == resolve_device("cuda").type == "cuda"


def test_scores_need_float64_and_so_are_not_computed_on_mps(monkeypatch):
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: True)
    assert resolve_device("mps").type == "mps"
    assert scoring_device("mps").type == "cpu"


@pytest.mark.parametrize("sizes", [(), (4,), (4, 3)])
def test_scores_are_the_same_wherever_they_are_asked_for(sizes):
    parameters = np.linspace(-1.0, 1.0, Network(3, sizes).n_parameters)
    options = {"sigma": 0.5, "n_draws": 64, "return_interval": True}
    asked = smooth_probability(sizes, parameters, ROWS, device="cpu", **options)
    usual = smooth_probability(sizes, parameters, ROWS, **options)
    for one, other in zip(asked, usual, strict=True):
        np.testing.assert_array_equal(one, other)


def test_an_absent_device_is_refused():
    with pytest.raises(InputError, match="got 'tpu'"):
        smooth_probability((), np.zeros(4), ROWS, sigma=0.5, device="tpu")


def test_a_module_is_copied_only_to_another_device():
    module = torch.nn.Linear(3, 1, dtype=torch.float64)
    before = copy.deepcopy(module.state_dict())
    parameters = torch.nn.utils.parameters_to_vector(module.parameters()).detach()
    options = {"sigma": 0.5, "n_draws": 8}
    asked = smooth_probability(module, parameters, ROWS, device="cpu", **options)
    np.testing.assert_array_equal(asked, smooth_probability(module, parameters, ROWS, **options))
    assert all(torch.equal(value, before[name]) for name, value in module.state_dict().items())
    base = probability.ModuleNetwork(module)
    assert probability._brought(base, torch.device("cpu")) is base
    # A device without memory stands for another one.
    moved = probability._brought(base, torch.device("meta"))
    assert moved is not base
    assert {value.device.type for value in moved.module.parameters()} == {"meta"}
    assert {value.device.type for value in module.parameters()} == {"cpu"}


def test_parameters_go_where_scores_are_computed():
    place = torch.device("meta")
    weights = probability._as_parameters(torch.zeros(4), Network(3), place)
    assert weights.device == place


@pytest.mark.filterwarnings("ignore:.*did not converge")
def test_a_fitted_model_scores_on_the_device_that_it_was_fitted_with(biased, monkeypatch):
    X, y, groups = biased.X.to_numpy(), biased.y, biased.sensitive_features
    model = FairSmoothClassifier(hidden_layer_sizes=(2,), device="cpu", max_iter=2)
    model.fit(X, y, sensitive_features=groups)
    asked = []

    def spy(name):
        asked.append(name)
        return devices.scoring_device(name)

    monkeypatch.setattr(probability, "scoring_device", spy)
    expected = model.predict_proba(X)
    model.set_params(device="cuda")  # takes effect at the next fit
    np.testing.assert_array_equal(model.predict_proba(X), expected)
    assert asked == ["cpu", "cpu"]


def test_noise_is_drawn_where_it_is_used():
    assert torch_generator(3, "layerwise", 0).device.type == "cpu"
    assert torch_generator(3, "layerwise", 0, device=torch.device("cpu")).device.type == "cpu"
    same = [torch.randn(4, generator=torch_generator(3, "a", device="cpu")) for _ in range(2)]
    assert torch.equal(*same)
