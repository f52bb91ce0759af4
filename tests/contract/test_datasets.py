import hashlib
import itertools
import pickle
from functools import cache
from importlib import resources

import numpy as np
import pandas as pd
import pytest

import fairsmooth.datasets
from fairsmooth.datasets import FairDataset, datasets
from fairsmooth.exceptions import InputError

ENTRIES = datasets()
CASES = [
    pytest.param(entry, encoding, sensitive, id=f"{entry.name}-{encoding}-{sensitive}")
    for entry in ENTRIES
    for encoding, sensitive in itertools.product(entry.encodings, entry.sensitive)
]


@cache
def loaded(entry, encoding, sensitive):
    return entry.loader(encoding=encoding, sensitive=sensitive)


@cache
def parts(entry, encoding, sensitive):
    return loaded(entry, encoding, sensitive).split()


def by_name(entries):
    return pytest.mark.parametrize("entry", entries, ids=lambda entry: entry.name)


def test_names_are_unique():
    assert len({entry.name for entry in ENTRIES}) == len(ENTRIES) >= 3


def test_public_names_exist():
    for name in fairsmooth.datasets.__all__:
        assert hasattr(fairsmooth.datasets, name)


@pytest.mark.parametrize(("entry", "encoding", "sensitive"), CASES)
def test_shape_and_content(entry, encoding, sensitive):
    data = loaded(entry, encoding, sensitive)
    assert isinstance(data, FairDataset)
    assert (data.name, data.encoding, data.label) == (entry.name, encoding, entry.label)
    assert len(data) == len(data.X) == len(data.y) == len(data.sensitive_features)
    assert data.y.dtype == np.int64
    assert set(np.unique(data.y)) == {0, 1}
    assert data.sensitive_names == (sensitive,)
    assert isinstance(data.sensitive_features, pd.Series)
    assert not data.sensitive_features.isna().any()
    assert data.X.columns.is_unique
    if encoding != "raw":
        assert (data.X.dtypes == np.float64).all()
        assert np.isfinite(data.X.to_numpy()).all()


@pytest.mark.parametrize(("entry", "encoding", "sensitive"), CASES)
def test_every_group_has_both_labels_in_both_parts(entry, encoding, sensitive):
    for part in parts(entry, encoding, sensitive):
        cells = part.groups.codes * 2 + part.y
        assert (np.bincount(cells, minlength=2 * len(part.groups.labels)) > 0).all()


@pytest.mark.parametrize(("entry", "encoding", "sensitive"), CASES)
def test_parts_have_the_same_columns(entry, encoding, sensitive):
    train, test = parts(entry, encoding, sensitive)
    assert list(train.X.columns) == list(test.X.columns)
    assert list(train.X.index) == list(range(len(train)))


@by_name(ENTRIES)
def test_loading_twice_gives_the_same(entry):
    first, second = entry.loader(), entry.loader()
    pd.testing.assert_frame_equal(first.X, second.X)
    np.testing.assert_array_equal(first.y, second.y)


@by_name(ENTRIES)
def test_survives_being_sent_to_another_process(entry):
    data = entry.loader()
    again = pickle.loads(pickle.dumps(data))  # noqa: S301 - our own bytes, as joblib sends them
    pd.testing.assert_frame_equal(again.X, data.X)
    np.testing.assert_array_equal(again.split()[1].y, data.split()[1].y)


@by_name([entry for entry in ENTRIES if entry.checksum is not None])
def test_checksum_is_that_of_the_embedded_file_and_stands_in_the_card(entry):
    files = resources.files("fairsmooth.datasets") / "_files"
    content = (files / f"{entry.name}.parquet").read_bytes()
    assert hashlib.sha256(content).hexdigest() == entry.checksum
    assert entry.checksum in (files / "README.md").read_text(encoding="utf-8")
    assert len(content) < 450_000


@by_name([entry for entry in ENTRIES if "binned" in entry.encodings])
def test_binned_holds_no_sensitive_column_unless_asked(entry):
    names = set(entry.sensitive)
    assert not names & set(entry.loader(encoding="binned").encoder.columns)
    asked = entry.loader(encoding="binned", include_sensitive=True)
    assert names <= set(asked.encoder.columns)


@by_name(ENTRIES)
def test_unknown_choices_are_listed(entry):
    with pytest.raises(InputError, match=f"encoding to be one of '{entry.encodings[0]}'"):
        entry.loader(encoding="nonsense")
    with pytest.raises(InputError, match=f"sensitive to be one of '{entry.sensitive[0]}'"):
        entry.loader(sensitive="nonsense")


@by_name(ENTRIES)
def test_the_table_is_what_a_file_would_hold(entry):
    for sensitive in entry.sensitive:
        data, table = loaded(entry, "raw", sensitive), entry.table(sensitive)
        assert list(table.columns) == [*data.X.columns, sensitive, entry.label_column]
        assert set(entry.drop) <= set(table.columns)
        assert (table[entry.label_column] == data.y).all()
        named = entry.varied_group.get(sensitive)
        assert named is None or named in data.groups.labels
    assert entry.table().columns[-2] == entry.sensitive[0]


@by_name(ENTRIES)
def test_entries_can_be_asked_for_by_name(entry):
    assert fairsmooth.datasets.entry(entry.name) is entry
    assert "-" not in entry.name
    assert entry.title
    assert "raw" in entry.encodings
    binned = entry.load(encoding="binned")
    assert binned.encoding == "binned"
    assert np.isfinite(binned.X.to_numpy(dtype=float)).all()
    with pytest.raises(InputError, match="Expected sensitive to be one of"):
        entry.load(sensitive="shoe size")
    with pytest.raises(InputError, match="Expected encoding to be one of"):
        entry.load(encoding="hashed")


def test_unknown_datasets_are_refused():
    with pytest.raises(InputError, match="Expected dataset to be one of 'adult', 'compas'"):
        fairsmooth.datasets.entry("titanic")


def test_bins_are_learned_again_from_the_training_part():
    data = fairsmooth.datasets.entry("synthetic").load(encoding="binned")
    train, test = data.split()
    assert list(train.X.columns) == list(test.X.columns)
    assert train.encoder is not data.encoder
