"""Coded rows in a file: what is written is what is read, mapped or released."""

import os

import numpy as np
import pytest
from tests.unit.core.test_rows import coded

from fairsmooth.data.files import code_file
from fairsmooth.data.files.code_file import CodeFile
from fairsmooth.exceptions import InputError


@pytest.mark.parametrize("levels", [(3, 2, 5), ()])
@pytest.mark.parametrize("n_numbers", [0, 2])
def test_rows_come_back_from_their_places(levels, n_numbers):
    rows = coded(5000, levels, n_numbers=n_numbers)
    places = np.random.default_rng(0).permutation(len(rows))
    file = CodeFile.make(rows.take(slice(0, 0)), len(rows))
    for start in range(0, len(rows), 999):
        some = slice(start, start + 999)
        file.write(places[some], rows.take(some))
        file.release()
    again = file.rows(0, len(rows)).take(places)
    np.testing.assert_array_equal(again.toarray(), rows.toarray())
    part = file.rows(10, 30)
    np.testing.assert_array_equal(part.toarray(), file.rows(0, len(rows)).toarray()[10:30])


def test_a_file_has_no_name(monkeypatch, tmp_path):
    monkeypatch.setattr(code_file.tempfile, "tempdir", str(tmp_path))
    file = CodeFile.make(coded(10), 1000)
    assert os.listdir(tmp_path) == []
    assert isinstance(file.codes.base, np.memmap)


def test_too_little_space_is_told():
    with pytest.raises(InputError, match=r"Expected .* GiB of space in .* set TMPDIR"):
        code_file.require_space(2**60)
