import hypothesis
import pytest
import torch

from fairsmooth.datasets import make_biased

# Timings of shared machines must not decide whether a property holds.
hypothesis.settings.register_profile("fairsmooth", deadline=None, derandomize=True, print_blob=True)
hypothesis.settings.load_profile("fairsmooth")


@pytest.fixture(autouse=True, scope="session")
def one_thread():
    torch.set_num_threads(1)


@pytest.fixture(scope="session")
def biased():
    return make_biased(n_samples=600, n_features=5, n_groups=2, random_state=0)


@pytest.fixture(scope="session")
def three_groups():
    return make_biased(n_samples=900, n_features=4, n_groups=3, random_state=1)
