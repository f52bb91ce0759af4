"""Names that break markup, formulas, pages or columns, all the way through the commands."""

import json
import re

import numpy as np
import pandas as pd
import pytest

from fairsmooth.cli.main import main

N = 600


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("names")
    random = np.random.default_rng(0)
    table = pd.DataFrame(
        {
            "[red]x": random.normal(size=N),
            "$\\frac{z$": random.choice(["[/]", "$$", "<b>"], N),
            "one": random.choice(["a|b", "a"], N),
            "two": random.choice(["[/nope]", "$\\frac{x$"], N),
            "granted?": random.choice(["yes", "no"], N),
        }
    )
    table.to_csv(folder / "data.csv", index=False)
    roles = ["--label", "granted?", "--sensitive", "one", "--sensitive", "two"]
    assert main(["train", str(folder / "data.csv"), *roles, "-o", str(folder / "m")]) == 0
    return folder


def test_certificate_audit_and_report(folder, capsys, tmp_path):
    assert main(["certificate", str(folder / "m")]) == 0
    assert "a\\|b|[/nope]" in capsys.readouterr().out
    words = ["audit", folder / "m", folder / "data.csv", "--report", tmp_path / "r.html"]
    assert main([str(word) for word in words]) == 0
    assert "[/nope]" in capsys.readouterr().out
    page = (tmp_path / "r.html").read_text()
    assert "a|b · [/nope]" in page
    assert "<b>" not in re.sub(r"<script.*?</script>", "", page, flags=re.S)
    assert main([str(word) for word in (*words, "--json")]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["provenance"]["label"] == "granted?"


def test_every_group_has_columns_of_its_own(folder, tmp_path):
    words = ["predict", folder / "m", folder / "data.csv", "-o", tmp_path / "p.csv"]
    assert main([str(word) for word in words]) == 0
    written = pd.read_csv(tmp_path / "p.csv")
    assert len(written.columns) == len(set(written.columns)) == 2 + 2 * 4
    assert "lower_a\\|b|[/nope]" in written
    assert "lower_a|[/nope]" in written


def test_verify(folder, capsys):
    assert main(["verify", str(folder / "m")]) == 0
    assert "holds" in capsys.readouterr().out
