"""The public names, and that asking for one loads no more than it needs."""

import subprocess
import sys

import pytest

import fairsmooth

HEAVY = ("torch", "sklearn", "scipy", "pandas", "numpy", "optuna", "matplotlib")


def loaded_after(statement):
    script = f"import sys\n{statement}\nprint(*(m for m in {HEAVY!r} if m in sys.modules))"
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    return run.stdout.split()


def test_importing_the_package_loads_nothing_heavy():
    assert loaded_after("import fairsmooth; fairsmooth.__version__") == []
    assert loaded_after("from fairsmooth import InputError, GroupError") == []


def test_seeds_need_no_torch():
    assert "torch" not in loaded_after("from fairsmooth._random import numpy_generator, seed_from")


def test_every_public_name_is_there_and_listed():
    assert set(fairsmooth.__all__) <= set(dir(fairsmooth))
    for name in fairsmooth.__all__:
        assert getattr(fairsmooth, name) is getattr(fairsmooth, name)


def test_names_are_those_of_their_rooms():
    from fairsmooth.core.certificate import certify
    from fairsmooth.estimator import FairSmoothClassifier
    from fairsmooth.tuning import tune

    assert fairsmooth.certify is certify
    assert fairsmooth.FairSmoothClassifier is FairSmoothClassifier
    assert fairsmooth.tune is tune


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(
        AttributeError, match="module 'fairsmooth' has no attribute 'certificate_of'"
    ):
        fairsmooth.certificate_of  # noqa: B018
