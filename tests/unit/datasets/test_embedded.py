import pytest

from fairsmooth.datasets import entry, load_adult, load_compas
from fairsmooth.datasets._embedded import read_table
from fairsmooth.exceptions import FairSmoothError


def test_damaged_file_is_refused():
    with pytest.raises(FairSmoothError, match=r"adult\.parquet with SHA-256 0+, got .*install"):
        read_table("adult.parquet", "0" * 64)


def test_callers_cannot_alter_what_others_read():
    first = read_table("adult.parquet", entry("adult").checksum)
    first.loc[:, "age"] = -1
    del first["sex"]
    second = read_table("adult.parquet", entry("adult").checksum)
    assert (second["age"] > 0).all()
    assert "sex" in second


@pytest.mark.parametrize("load", [load_adult, load_compas])
@pytest.mark.parametrize("encoding", ["raw", "aif360", "binned"])
def test_loading_again_is_not_affected_by_what_was_done_to_a_dataset(load, encoding):
    first = load(encoding)
    total = first.y.sum()
    first.y[:] = 7
    first.X.iloc[:, 0] = -1
    first.sensitive_features[:] = "nobody"
    second = load(encoding)
    assert second.y.sum() == total
    assert (second.X.iloc[:, 0] != -1).all()
    assert second.groups.labels == ("Female", "Male")
