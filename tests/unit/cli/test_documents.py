"""Documents from elsewhere, which say one thing to whoever reads them."""

import pytest

from fairsmooth.cli.documents import read_document
from fairsmooth.exceptions import InputError


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"bounds": {"a": 0.001}, "bounds": {"a": 0.2}}', "a key occurs twice in one object"),
        ('{"bounds": [{"a": 1, "a": 2}]}', "a key occurs twice in one object"),
        ('{"bound": NaN}', "NaN is not a number"),
        ('{"bound": -Infinity}', "-Infinity is not a number"),
        ('{"bound": 1e400}', "1e400 is outside the range of float64"),
        ('[{"bound": 1}]', "Expected a JSON object in the file, got list"),
    ],
)
def test_a_document_that_two_readers_may_read_differently_is_refused(text, message, tmp_path):
    path = tmp_path / "g.json"
    path.write_text(text)
    with pytest.raises(InputError, match=f"Expected a guarantee, got .*: {message}"):
        read_document(path, "a guarantee")


def test_a_key_may_occur_in_several_objects(tmp_path):
    path = tmp_path / "g.json"
    path.write_text('{"a": {"a": 1}, "b": [{"a": 1}, {"a": 2}]}')
    assert read_document(path, "a guarantee")["b"][1] == {"a": 2}
