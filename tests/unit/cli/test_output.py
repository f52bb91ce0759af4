"""JSON for programs: one document, whatever its length."""

import json

import pytest

from fairsmooth.cli import output

DOCUMENT = {
    "accuracy": 0.5,
    "groups": [{"group": "f", "rows": 3}, {"group": "mäßig", "low": None}],
    "notes": [],
    "certificate": {"epsilon": 1e-17, "distances": [1.0, 2.0]},
}


@pytest.mark.parametrize("longest", [10, 10**6])
def test_what_is_printed_is_the_document(longest, monkeypatch, capsys):
    monkeypatch.setattr(output, "_LONG", longest)
    output.print_json(DOCUMENT)
    printed = capsys.readouterr().out
    assert json.loads(printed) == DOCUMENT
    assert list(json.loads(printed)) == list(DOCUMENT)
    # Every entry of a list is found by its line, in either form.
    assert any(
        line.strip().startswith(('{"group": "mäßig"', '"group": "mäßig"'))
        for line in printed.splitlines()
    )


@pytest.mark.parametrize("longest", [10, 10**6])
def test_numbers_that_json_does_not_know_are_no_document(longest, monkeypatch):
    monkeypatch.setattr(output, "_LONG", longest)
    with pytest.raises(ValueError, match="Out of range float"):
        output.print_json({"accuracy": float("nan")})
