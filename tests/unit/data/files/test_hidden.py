"""What lies in hidden folders of a table is not read as its rows."""

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from fairsmooth.cli.reading import guesses
from fairsmooth.data.files.hidden import require_none_hidden
from fairsmooth.data.files.part_file import parts_of
from fairsmooth.data.files.stored import StoredTable
from fairsmooth.exceptions import InputError


def write(path, n=3):
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.table({"a": list(range(n))}), path)


@pytest.mark.parametrize("hidden", ["_delta_log/q.parquet", "_temporary/0/p.parquet", ".x/p.pq"])
@pytest.mark.parametrize("ask", [require_none_hidden, StoredTable.at, parts_of, guesses])
def test_parts_in_hidden_folders_are_refused(tmp_path, hidden, ask):
    table = tmp_path / "people"
    write(table / "0.parquet")
    write(table / "year=2020" / "1.parquet")
    assert require_none_hidden(table) == table
    write(table / hidden)
    with pytest.raises(
        InputError, match=rf"hidden folders of people, got 1, the first being \{hidden[0]}"
    ):
        ask(table)


def test_hidden_folders_above_the_table_and_files_are_fine(tmp_path):
    table = tmp_path / "_mine" / ".here"
    write(table / "0.parquet")
    assert require_none_hidden(table) == table
    assert require_none_hidden(table / "0.parquet") == table / "0.parquet"
    assert len(StoredTable.at(table)) == 3
