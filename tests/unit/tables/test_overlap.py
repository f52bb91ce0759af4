"""Safety rows that were trained on are refused; what cannot be checked is said."""

import numpy as np
import pandas as pd
import pytest

from fairsmooth.data.frames import as_frame, table_digest
from fairsmooth.exceptions import InputError
from fairsmooth.tables import overlap
from fairsmooth.tables.overlap import id_digests, require_no_overlap
from fairsmooth.tables.provenance import Provenance


def _known(ids, *, digest="0" * 64):
    frame = as_frame(pd.DataFrame({"id": ids}))
    return Provenance(
        label="y",
        positive=1,
        negative=0,
        sensitive=("sex",),
        ids=("id",),
        digest=digest,
        id_digests=id_digests(frame, digest=digest),
    )


def _check(known, ids):
    table = as_frame(pd.DataFrame({"id": ids}))
    return require_no_overlap(known, table, table_digest(table))


def test_rows_with_other_ids_pass():
    assert "No id of these 2 rows" in _check(_known([1, 2, 3]), [4, 5])


@pytest.mark.parametrize("ids", [[4, 2], ["4", "2"], [2.0]])
def test_an_id_of_the_training_rows_is_found_however_it_is_written(ids):
    with pytest.raises(InputError, match="1 whose 'id' was among the training rows"):
        _check(_known([1, 2, 3]), ids)


def test_the_training_table_itself_is_refused():
    table = as_frame(pd.DataFrame({"x": [1, 2]}))
    known = Provenance("y", 1, 0, ("sex",), digest=table_digest(table))
    with pytest.raises(InputError, match="the table that it was trained from"):
        require_no_overlap(known, table, table_digest(table))


def test_what_is_not_checked_is_said():
    table = as_frame(pd.DataFrame({"x": [1]}))
    assert "no model was given" in require_no_overlap(None, table, "1")
    assert "without ids" in require_no_overlap(Provenance("y", 1, 0, ("sex",)), table, "1")
    assert "lacks the id columns" in require_no_overlap(_known([1]), table, "1")


def test_rows_without_an_id_are_not_compared_and_told():
    known = _known([1, None, 3])
    assert "not checked row by row: no row has an id." in _check(known, [None, "n/a"])
    said = _check(known, [None, 5])
    assert "No id of these 1 rows was among" in said
    assert said.endswith("1 more rows have no id and are not checked.")
    with pytest.raises(InputError, match=r"1 whose 'id' .*the first is row 3"):
        _check(known, [None, 5, 3])


def test_many_ids_are_compared_as_far_as_the_file_can_tell(monkeypatch):
    monkeypatch.setattr(overlap, "MOST_DIGESTS", 50)
    known = _known(np.arange(1000))
    assert len(known.id_digests["digests"]) == 50 * 16
    said = _check(known, np.arange(1000, 3000))
    assert "as far as the file can tell" in said
    with pytest.raises(InputError, match="among the training rows"):
        _check(known, np.arange(1000))


def test_two_models_have_digests_that_cannot_be_compared():
    one, other = _known([1, 2], digest="1" * 64), _known([1, 2], digest="2" * 64)
    assert one.id_digests["digests"] != other.id_digests["digests"]
