import pytest

from fairsmooth.exceptions import InputError
from fairsmooth.experiments import Store


def test_records_survive(tmp_path):
    Store(tmp_path).append({"key": "a", "status": "done", "value": 1.5})
    again = Store(tmp_path)
    assert "a" in again
    assert "b" not in again
    assert again["a"]["value"] == 1.5
    assert again.get("b") is None
    assert len(again) == 1


def test_a_torn_line_is_cut_off_and_its_job_runs_again(tmp_path):
    store = Store(tmp_path)
    store.append({"key": "a", "status": "done"})
    with store.path.open("ab") as file:
        file.write(b'{"key": "b", "sta')
    again = Store(tmp_path)
    assert "b" not in again
    again.append({"key": "b", "status": "done"})
    assert len(Store(tmp_path)) == 2


def test_a_damaged_line_is_named(tmp_path):
    store = Store(tmp_path)
    store.append({"key": "a"})
    store.path.write_bytes(b"nonsense\n" + store.path.read_bytes())
    with pytest.raises(InputError, match="one JSON record per line, got something else in line 1"):
        Store(tmp_path)


def test_a_folder_that_cannot_be_written_is_one_line(tmp_path):
    store = Store(tmp_path / "here")
    store.path.mkdir()
    with pytest.raises(InputError, match="Expected to be able to write"):
        store.append({"key": "a"})
