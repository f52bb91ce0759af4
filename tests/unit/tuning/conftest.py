import pytest

from fairsmooth.datasets import make_biased
from fairsmooth.tuning import SearchSpace


@pytest.fixture(scope="session")
def small():
    return make_biased(n_samples=160, n_features=2, n_groups=2, random_state=0)


@pytest.fixture(scope="session")
def plain_space():
    """A space whose trials train in milliseconds."""
    return SearchSpace(parity=(None,))
