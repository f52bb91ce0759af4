"""``train --columns forecasts``, and every command on the file it writes."""

import json

import numpy as np
import pandas as pd
import pytest

from fairsmooth.cli.main import main

ROLES = ["--label", "hired", "--sensitive", "group"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("forecasts")
    random = np.random.default_rng(0)
    n = 900
    job = random.choice(["clerk", "nurse", "smith"], n)
    age = random.integers(20, 60, n)
    group = np.where(random.random(n) < 0.2 + 0.6 * (job == "nurse"), "a", "b")
    hired = (age + 6 * (group == "b") + random.normal(0, 12, n) > 42).astype(int)
    table = pd.DataFrame({"age": age, "job": job, "group": group, "hired": hired})
    table[:600].to_csv(folder / "data.csv", index=False)
    table[600:].to_csv(folder / "new.csv", index=False)
    table[600:].drop(columns=["group", "hired"]).to_csv(folder / "blind.csv", index=False)
    arguments = ["train", str(folder / "data.csv"), *ROLES, "--columns", "forecasts"]
    assert main([*arguments, "-o", str(folder / "model")]) == 0
    return folder


def run(capsys, *arguments):
    code = main([str(argument) for argument in arguments])
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def test_training_says_that_the_group_is_forecast(folder, capsys, tmp_path):
    code, out, err = run(
        capsys, "train", folder / "data.csv", *ROLES, "--columns", "forecasts", "--json",
        "-o", tmp_path / "model",
    )  # fmt: skip
    assert code == 0
    assert "Predictions use a forecast of the group" in " ".join(err.split())
    notes = json.loads(out)["provenance"]["notes"]
    assert any("Forecast of the label: log loss" in note for note in notes)
    assert (tmp_path / "model").read_bytes() == (folder / "model").read_bytes()


def test_predict_needs_no_group(folder, capsys, tmp_path):
    code, _, err = run(
        capsys, "predict", folder / "model", folder / "blind.csv", "-o", tmp_path / "p.csv"
    )
    assert code == 0, err
    scores = pd.read_csv(tmp_path / "p.csv")
    assert len(scores) == 300
    assert scores["probability"].between(0, 1).all()


def test_audit_certificate_and_guarantee(folder, capsys):
    code, out, err = run(capsys, "audit", folder / "model", folder / "new.csv", "--json")
    assert code == 0, err
    assert json.loads(out)["accuracy"] > 0.6
    assert run(capsys, "certificate", folder / "model")[0] == 0
    code, out, err = run(
        capsys, "guarantee", folder / "model", folder / "new.csv", "--max-dp", "0.9"
    )
    assert code == 0, err


def test_verify_reads_the_forecasters_and_withstands_the_attack(folder, capsys):
    code, out, _ = run(capsys, "verify", folder / "model", "--attack", "1", "--json")
    document = json.loads(out)
    assert code == 0
    assert {check["name"] for check in document["checks"]} >= {"forecasters", "forecasts"}
    assert {found["where"] for found in document["attack"]} == {"unbounded", "box"}


def test_one_changed_byte_is_refused_by_every_command(folder, capsys, tmp_path):
    contents = bytearray((folder / "model").read_bytes())
    start = 8 + int.from_bytes(contents[:8], "little")
    contents[start + 100] ^= 1  # the first tensor by name is a forecaster's
    (tmp_path / "model").write_bytes(contents)
    code, out, _ = run(capsys, "verify", tmp_path / "model")
    assert code == 1
    assert "FAILS digest" in out
    code, _, err = run(
        capsys, "predict", tmp_path / "model", folder / "blind.csv", "-o", tmp_path / "p.csv"
    )
    assert code == 2
    assert "its digest does not match" in " ".join(err.split())


def test_training_to_a_guarantee_on_forecasts(folder, capsys, tmp_path):
    code, _, err = run(
        capsys, "train", folder / "data.csv", *ROLES, "--columns", "label-forecast",
        "--guarantee-dp", "0.6", "-o", tmp_path / "model",
    )  # fmt: skip
    assert code == 0, err
    assert run(capsys, "verify", tmp_path / "model")[0] == 0


def test_columns_that_there_are_not(folder, capsys, tmp_path):
    code, _, err = run(
        capsys, "train", folder / "data.csv", *ROLES, "--columns", "tea", "-o", tmp_path / "m"
    )
    assert code == 2
    assert "Expected columns to be one of" in " ".join(err.split())
