import ast
import struct
from pathlib import Path

import pytest
from tests.unit.verify.forged import failures, model, write, write_raw

import fairsmooth
from fairsmooth.exceptions import ModelFileError
from fairsmooth.verify import Check, Verification, verify

METADATA = {"fairsmooth": "{}", "digest": ""}


def tensor(**changes):
    return {"dtype": "F64", "shape": [2], "data_offsets": [0, 16]} | changes


@pytest.mark.parametrize(
    ("header", "message"),
    [
        ({"__metadata__": {**METADATA, "more": ""}}, "Expected metadata with exactly"),
        ({"__metadata__": {**METADATA, "digest": 1}}, "Expected both metadata entries to be text"),
        (
            {"__metadata__": {**METADATA, "fairsmooth": "\ud800"}},
            "Expected a description in Unicode",
        ),
        ({"__metadata__": METADATA}, "Expected 0 bytes of tensors, got 16"),
        ({"__metadata__": METADATA, "a": 1}, "Expected dtype, shape and data_offsets"),
        ({"__metadata__": METADATA, "a": tensor(dtype="F32")}, "Expected tensor 'a' in F64"),
        ({"__metadata__": METADATA, "a": tensor(shape=[-2])}, "Expected positive sizes"),
        ({"__metadata__": METADATA, "a": tensor(shape=[2, 0])}, "Expected positive sizes"),
        ({"__metadata__": METADATA, "a": tensor(shape=[10**30])}, "Expected positive sizes"),
        ({"__metadata__": METADATA, "a": tensor(shape=[1] * 9)}, "Expected positive sizes"),
        ({"__metadata__": METADATA, "a": tensor(shape=[2.0])}, "Expected positive sizes"),
        ({"__metadata__": METADATA, "a": tensor(shape=[3])}, "to fill its bytes"),
        (
            {"__metadata__": METADATA, "a": tensor(data_offsets=[8, 24])},
            "Expected tensor 'a' to start at byte 0, got 8",
        ),
        (
            {"__metadata__": METADATA, "a": tensor(), "b": tensor()},
            "Expected tensor 'b' to start at byte 16, got 0",
        ),
        (
            {"__metadata__": METADATA, "a": tensor(shape=[2**29], data_offsets=[0, 2**32])},
            "Expected 4294967296 bytes of tensors, got 16",
        ),
    ],
    ids=range(15),
)
def test_headers_that_are_damaged(path, header, message):
    assert message in failures(write_raw(path, header, bytes(16)))["file"]


@pytest.mark.parametrize(
    ("header", "message"),
    [
        (b"\xff\xfe", "Expected the header in UTF-8"),
        (b"{", "Expected JSON in the header"),
        (b'"text"', "Expected a JSON object in the header, got str"),
        ({}, "Expected metadata with exactly"),
        ({"weight": tensor(), "__metadata__": {"format": "pt"}}, "Expected metadata with exactly"),
    ],
    ids=range(5),
)
def test_a_file_of_something_else_is_no_model(path, header, message):
    with pytest.raises(ModelFileError, match=f"got .*model, which is none: {message}"):
        verify(write_raw(path, header, bytes(16)))


def test_files_that_are_no_files(path, tmp_path):
    with pytest.raises(ModelFileError, match="No such file"):
        verify(path)
    with pytest.raises(ModelFileError, match="Expected a readable file"):
        verify(tmp_path)
    with pytest.raises(ModelFileError, match="Expected the path of a file"):
        verify("null\0byte")
    path.write_bytes(b"12345678")
    with pytest.raises(ModelFileError, match="got 8 bytes"):
        verify(path)
    path.write_bytes(struct.pack("<Q", 2**63) + b"{}")
    with pytest.raises(ModelFileError, match="Expected a header of 1 to 2 bytes"):
        verify(path)
    path.write_text("# A text about the library `fairsmooth`, its file and its digest\n" * 9)
    with pytest.raises(ModelFileError, match="which is none"):
        verify(path)


def test_devices_are_not_read():
    with pytest.raises(ModelFileError, match="Expected a regular file"):
        verify("/dev/zero")


def test_every_truncation_is_refused(path):
    data = write(path, *model(2)).read_bytes()
    signs = (b'"fairsmooth":', b'"group_parameters":')
    seen = min(data.index(sign) + len(sign) for sign in signs)
    for length in range(0, len(data), 7):
        path.write_bytes(data[:length])
        if length >= seen:  # long enough to see that it was a model
            assert failures(path)
        else:
            with pytest.raises(ModelFileError, match="which is none"):
                verify(path)
    path.write_bytes(data + b"\0")
    assert "bytes of tensors" in failures(path)["file"]


def test_large_models_are_decided_exactly_too(path):
    plain, tensors = model(10, (200, 490))
    assert tensors["parameters"].size > 99_000
    write(path, plain, tensors)
    assert verify(path).holds


def test_an_empty_verification_does_not_hold():
    assert not Verification(()).holds
    assert str(Check("digest", False, "altered")) == "FAILS digest: altered"


def test_imports_nothing_that_it_judges():
    folder = Path(fairsmooth.__file__).parent / "verify"
    for source in folder.glob("*.py"):
        for node in ast.walk(ast.parse(source.read_text())):
            names = [node.module] if isinstance(node, ast.ImportFrom) else []
            names += [alias.name for alias in getattr(node, "names", []) if not names]
            ours = [name for name in names if name and name.startswith("fairsmooth")]
            assert all(n.startswith(("fairsmooth.verify", "fairsmooth.exceptions")) for n in ours)
