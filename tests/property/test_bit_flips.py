"""A model file with one bit changed is never accepted, and never makes the verifier stumble."""

import random

import pytest

from fairsmooth.estimator import FairSmoothClassifier
from fairsmooth.exceptions import ModelFileError
from fairsmooth.persistence import load, save
from fairsmooth.verify import verify

# A few iterations make a model that can be saved; it need not be at the minimum.
pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

N_FLIPS = 200


@pytest.fixture(scope="module")
def original(biased, tmp_path_factory):
    path = tmp_path_factory.mktemp("flips") / "model"
    classifier = FairSmoothClassifier(sigma=0.5, max_iter=20, random_state=0)
    classifier.fit(biased.X, biased.y, sensitive_features=biased.sensitive_features)
    save(classifier, path)
    assert verify(path).holds
    return path.read_bytes()


def flipped(data, position):
    changed = bytearray(data)
    changed[position // 8] ^= 1 << position % 8
    return bytes(changed)


def test_no_flip_of_200_is_accepted(original, tmp_path):
    path = tmp_path / "model"
    for position in random.Random(0).sample(range(8 * len(original)), N_FLIPS):
        path.write_bytes(flipped(original, position))
        verification = verify(path)
        assert not verification.holds, position
        assert verification.failures[0].detail


def test_every_bit_of_the_weights_counts(original, tmp_path):
    path = tmp_path / "model"
    header = 8 + int.from_bytes(original[:8], "little")
    for position in random.Random(1).sample(range(8 * header, 8 * len(original)), N_FLIPS):
        path.write_bytes(flipped(original, position))
        assert not verify(path).holds
        with pytest.raises(ModelFileError, match="Expected"):
            load(path)


def test_every_bit_of_the_length_and_first_bytes_counts(original, tmp_path):
    path = tmp_path / "model"
    for position in range(8 * 64):
        path.write_bytes(flipped(original, position))
        assert not verify(path).holds, position


def test_bytes_of_nothing_in_particular(tmp_path):
    path = tmp_path / "model"
    source = random.Random(2)
    for length in range(0, 400, 3):
        body = source.randbytes(length)
        for data in (body, len(body).to_bytes(8, "little") + body):
            path.write_bytes(data)
            with pytest.raises(
                ModelFileError, match=r"Expected a model file, got .* which is none"
            ):
                verify(path)
