"""Forecasters in a model file: exact when honest, refused by every reader when not."""

import random

import numpy as np
import pandas as pd
import pytest
from tests.unit.persistence.rewriting import rewrite

from fairsmooth import FairSmoothClassifier, ModelFileError
from fairsmooth.columns import Forecasts
from fairsmooth.persistence import file_digest, model_digest, read_certificate, read_model, save
from fairsmooth.verify import verify

# A few iterations make a model that can be saved; it need not be at the minimum.
pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


@pytest.fixture(scope="module")
def trained():
    source = np.random.default_rng(0)
    n = 300
    table = pd.DataFrame(
        {"age": source.integers(20, 60, n), "job": source.choice(["clerk", "nurse", "smith"], n)}
    )
    group = np.where(table["job"] == "nurse", "f", source.choice(["f", "m", "x"], n))
    y = (table["age"] + source.normal(0, 8, n) > 40).astype(int)
    forecasts = Forecasts(rounds=6, n_folds=3)
    X = forecasts.fit_transform(table, y, sensitive_features=group)
    classifier = FairSmoothClassifier(sigma=0.5, max_iter=20, random_state=0)
    classifier.fit(X, y, sensitive_features=group)
    return classifier, forecasts.encoder_, table


@pytest.fixture(scope="module")
def contents(trained, tmp_path_factory):
    path = tmp_path_factory.mktemp("forecasters") / "model"
    save(trained[0], path, encoder=trained[1])
    return path.read_bytes()


@pytest.fixture
def path(contents, tmp_path):
    (tmp_path / "model").write_bytes(contents)
    return tmp_path / "model"


def test_a_file_holds_all_of_it(path, trained):
    classifier, encoder, table = trained
    saved = read_model(path)
    X = encoder.transform(table)
    pd.testing.assert_frame_equal(saved.encoder.transform(table), X, check_exact=True)
    np.testing.assert_array_equal(saved.classifier.predict_proba(X), classifier.predict_proba(X))
    assert file_digest(path) == model_digest(classifier, encoder=encoder)


def test_it_is_verified_with_the_forecasters_in_a_line_of_their_own(path):
    verification = verify(path)
    assert verification.holds
    lines = {check.name: check.detail for check in verification.checks}
    assert "trees of" in lines["forecasters"]
    assert "forecast label and group, every path ends in a leaf; sha256" in lines["forecasters"]
    assert "the certificate holds whatever they say" in lines["forecasts"]


def test_another_forecaster_is_another_model(path, contents):
    before = file_digest(path)
    rewrite(path, lambda plain, tensors: tensors["forecast.label.baseline"].__iadd__(0.5))
    assert verify(path).holds  # the certificate is about the linear part and any input
    assert file_digest(path) != before


def test_a_forecaster_changed_by_one_byte_is_refused(path, contents):
    """Anywhere in the tensors, of which nearly all are the forecasters."""
    start = 8 + int.from_bytes(contents[:8], "little")
    for place in random.Random(0).sample(range(start, len(contents)), 60):
        changed = bytearray(contents)
        changed[place] ^= 1 << place % 8
        path.write_bytes(changed)
        assert not verify(path).holds, place
        with pytest.raises(ModelFileError, match="digest does not match"):
            read_model(path)


def put(name, place, value):
    def change(plain, tensors):
        tensors[name][place] = value

    return change


def drop(name):
    return lambda plain, tensors: tensors.pop(name)


def entry(*keys, value):
    def change(plain, tensors):
        *way, last = ("encoder", *keys)
        for key in way:
            plain = plain[key]
        plain[last] = value

    return change


def reshape(name, shape):
    def change(plain, tensors):
        tensors[name] = np.zeros(shape)

    return change


def extra(plain, tensors):
    tensors["forecast.other.nodes"] = np.zeros((1, 5))


FORGERIES = {
    "a way back": put("forecast.label.nodes", (2, 2), 1.0),
    "a way out": put("forecast.label.nodes", (1, 3), 1e6),
    "half a node": put("forecast.group.nodes", (1, 2), 2.5),
    "a feature too many": put("forecast.label.nodes", (1, 0), 2.0),
    "a huge value": put("forecast.group.nodes", (1, 4), 1e12),
    "not a number": put("forecast.group.nodes", (1, 4), np.nan),
    "a root elsewhere": put("forecast.group.roots", (0, 0), -1.0),
    "no roots": drop("forecast.group.roots"),
    "no forecaster of the label": drop("forecast.label.nodes"),
    "another forecaster": extra,
    "nodes of four entries": reshape("forecast.label.nodes", (3, 4)),
    "roots of two groups": reshape("forecast.group.roots", (1, 2)),
    "a flat baseline": reshape("forecast.group.baseline", (2,)),
    "no groups": entry("groups", value=None),
    "two groups": entry("groups", value=["f", "m"]),
    "a group twice": entry("groups", value=["f", "m", "m"]),
    "a reference outside": entry("reference", value=3),
    "centres that are text": entry("centre", value=["0"] * 5),
    "a scale of zero": entry("scale", value=[0.0] * 5),
    "no inputs": entry("inputs", value=None),
    "inputs of one column": entry("inputs", "columns", value=[]),
    "another entry": entry("evil", value=1),
    "another kind": entry("kind", value="oracle"),
}


@pytest.mark.parametrize("change", FORGERIES.values(), ids=FORGERIES)
def test_every_reader_refuses(path, change):
    rewrite(path, change)
    verification = verify(path)
    assert not verification.holds
    assert all("Expected" in check.detail for check in verification.failures)
    for read in (read_model, read_certificate):
        with pytest.raises(ModelFileError, match="Expected a model file of this library"):
            read(path)


def test_forecasters_without_an_encoder_that_has_some_are_refused(path):
    rewrite(path, lambda plain, tensors: plain.__setitem__("encoder", None))
    assert not verify(path).holds
    with pytest.raises(ModelFileError, match=r"got 'forecast\."):
        read_model(path)


def test_a_file_that_was_read_can_be_written_again_to_the_byte(path, contents, tmp_path):
    saved = read_model(path)
    save(saved.classifier, tmp_path / "again", encoder=saved.encoder)
    assert (tmp_path / "again").read_bytes() == contents
