"""A file holds a module's weights, not its code: what is given must be what was saved."""

import numpy as np
import pytest
import torch
from tests.unit.persistence.rewriting import rewrite
from torch import nn

from fairsmooth import FairSmoothClassifier, ModelFileError
from fairsmooth.persistence import load, read_certificate, save
from fairsmooth.verify import verify

# A few iterations make a model that can be saved; it need not be at the minimum.
pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def sequential(activation=nn.Tanh, width=3):
    torch.manual_seed(0)
    return nn.Sequential(
        nn.Linear(5, width), nn.BatchNorm1d(width), activation(), nn.Linear(width, 1)
    )


class Stored(nn.Module):
    """As many parameters as the sequence, by other names."""

    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.zeros(28))

    def forward(self, X):
        return X @ self.weight[:5]


@pytest.fixture(scope="module")
def fitted(biased):
    clf = FairSmoothClassifier(module=sequential(), max_iter=1, n_draws=64, random_state=0)
    return clf.fit(biased.X, biased.y, sensitive_features=biased.sensitive_features)


@pytest.fixture
def path(fitted, tmp_path):
    save(fitted, tmp_path / "m")
    return tmp_path / "m"


def test_a_module_needs_its_code_to_be_loaded(fitted, path, biased):
    with pytest.raises(ModelFileError, match=r"call load\(path, module=\.\.\.\)"):
        load(path)
    loaded = load(path, module=sequential())
    np.testing.assert_array_equal(loaded.predict_proba(biased.X), fitted.predict_proba(biased.X))
    assert read_certificate(path) == fitted.certificate_


@pytest.mark.parametrize(
    ("module", "message"),
    [
        (Stored(), "Expected a module with the class that was saved"),
        (sequential(nn.ReLU), "Expected a module with the classes of the parts that was saved"),
        (sequential(width=4), "Expected a module with the number of parameters that was saved"),
    ],
)
def test_another_module_is_refused(path, module, message):
    with pytest.raises(ModelFileError, match=message):
        load(path, module=module)


def test_other_parameters_of_one_class_are_refused(biased, tmp_path):
    class Wide(nn.Module):
        def __init__(self, shape):
            super().__init__()
            self.first = nn.Parameter(torch.zeros(shape))

        def forward(self, X):
            return X[:, :2] @ self.first.reshape(3, 2).T.sum(1)

    clf = FairSmoothClassifier(module=Wide((3, 2)), max_iter=1, n_draws=8, random_state=0)
    clf.fit(biased.X, biased.y, sensitive_features=biased.sensitive_features)
    save(clf, tmp_path / "m")
    with pytest.raises(ModelFileError, match="with the names and shapes of the parameters"):
        load(tmp_path / "m", module=Wide((2, 3)))


def test_a_class_may_move_to_another_file(path):
    def move(plain, tensors):
        plain["architecture"]["name"] = "__main__.Sequential"

    assert load(rewrite(path, move), module=sequential()).n_features_in_ == 5


def test_buffers_must_be_those_of_the_module(path):
    def drop(plain, tensors):
        del tensors["buffer.1.running_mean"]

    with pytest.raises(ModelFileError, match=r"Expected a module with \['buffer\.1\.num_batches"):
        load(rewrite(path, drop), module=sequential())


def test_a_buffer_of_another_size_is_refused(path):
    def shrink(plain, tensors):
        tensors["buffer.1.running_mean"] = tensors["buffer.1.running_mean"][:2].copy()

    with pytest.raises(ModelFileError, match=r"Expected 'buffer\.1\.running_mean' of shape"):
        load(rewrite(path, shrink), module=sequential())


def test_frozen_parameters_travel_with_the_model(biased, tmp_path):
    """They are part of the function: another backbone must not slip in at loading."""
    module = sequential()
    module[0].requires_grad_(False)
    clf = FairSmoothClassifier(module=module, max_iter=1, n_draws=64, random_state=0)
    clf.fit(biased.X, biased.y, sensitive_features=biased.sensitive_features)
    save(clf, tmp_path / "m")
    other = sequential()
    other[0].requires_grad_(False)
    with torch.no_grad():
        other[0].weight.fill_(7.0)
    loaded = load(tmp_path / "m", module=other)
    np.testing.assert_array_equal(loaded.predict_proba(biased.X), clf.predict_proba(biased.X))
    assert (other[0].weight == 7.0).all()
    with pytest.raises(ModelFileError, match="number of parameters that was saved"):
        load(tmp_path / "m", module=sequential())
    assert verify(tmp_path / "m").holds
