import os
from pathlib import Path

import hypothesis
import pytest
import torch

from fairsmooth.datasets import make_biased

# Timings of shared machines must not decide whether a property holds.
hypothesis.settings.register_profile("fairsmooth", deadline=None, derandomize=True, print_blob=True)
hypothesis.settings.load_profile("fairsmooth")


TESTS = Path(__file__).parent
# Tests that compare numbers or files; `make kernels` runs them once more under other kernels.
NUMBERS = (
    *("unit/core", "unit/metrics", "unit/persistence", "unit/training", "unit/verify"),
    *("unit/test_estimator.py", "unit/test_networks.py", "property", "theory/test_smoothing.py"),
    *("integration/test_cli.py", "integration/test_cli_checks.py"),
)


def pytest_collection_modifyitems(items):
    for item in items:
        if any(item.path.is_relative_to(TESTS / place) for place in NUMBERS):
            item.add_marker(pytest.mark.numbers)


@pytest.fixture(autouse=True, scope="session")
def threads():
    torch.set_num_threads(int(os.environ.get("OMP_NUM_THREADS", "1")))


@pytest.fixture(scope="session")
def biased():
    return make_biased(n_samples=600, n_features=5, n_groups=2, random_state=0)


@pytest.fixture(scope="session")
def three_groups():
    return make_biased(n_samples=900, n_features=4, n_groups=3, random_state=1)
