"""The commands as users run them: files in, files out, one line per mistake."""

import json
import re

import numpy as np
import pandas as pd
import pytest

from fairsmooth.cli.main import main

TRAIN = ["--label", "hired", "--sensitive", "sex"]


@pytest.fixture(scope="module")
def table():
    random = np.random.default_rng(0)
    n = 500
    sex = random.choice(["f", "m"], n)
    years = random.integers(0, 20, n)
    degree = random.choice(["none", "bachelor", "master"], n)
    logit = 0.3 * (years - 9) + (degree == "master") + 0.8 * (sex == "m") + random.logistic(size=n)
    return pd.DataFrame(
        {"sex": sex, "years": years, "degree": degree, "hired": np.where(logit > 0, "yes", "no")}
    )


@pytest.fixture(scope="module")
def folder(tmp_path_factory, table):
    folder = tmp_path_factory.mktemp("cli")
    table.to_csv(folder / "data.csv", index=False)
    table.to_parquet(folder / "data.parquet")
    code = main(["train", str(folder / "data.csv"), *TRAIN, "-o", str(folder / "model")])
    assert code == 0
    return folder


def run(capsys, *arguments):
    code = main([str(argument) for argument in arguments])
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def fails_with(capsys, *arguments):
    code, out, err = run(capsys, *arguments)
    assert code == 2
    assert out == ""
    assert "Traceback" not in err
    lines = [line for line in err.splitlines() if line.strip()]
    assert len(lines) == 1, err
    return lines[0]


def test_train_prints_certificate_and_audit(folder, capsys, tmp_path):
    code, out, _ = run(capsys, "train", folder / "data.parquet", *TRAIN, "-o", tmp_path / "m")
    assert code == 0
    assert "A row is selected where hired = 'yes' is predicted; the other value is 'no'." in out
    assert "Groups: sex (not a feature)." in out
    assert re.search(r"Trained on 3\d\d rows, 15\d of the same table held out", out)
    assert "Fairness certificate, 2 groups" in out
    assert "It does not say that the groups are treated alike" in out
    assert "demographic parity gap" in out


def test_train_json_is_one_document_with_the_agreed_keys(folder, capsys, tmp_path):
    code, out, _ = run(capsys, "train", folder / "data.csv", *TRAIN, "-o", tmp_path / "m", "--json")
    document = json.loads(out)
    assert code == 0
    assert set(document) >= {
        *("accuracy", "demographic_parity", "equalized_odds_sum", "equalized_odds_max"),
        *("epsilon", "epsilon_tight", "max_distance", "measured_gap", "tying_cost", "seconds"),
        "groups",
    }
    assert document["measured_gap"] <= document["epsilon_tight"] <= document["epsilon"]
    assert [group["group"] for group in document["groups"]] == ["f", "m"]


def test_same_seed_same_model_file(folder, tmp_path, capsys):
    for name in ("a", "b"):
        run(capsys, "train", folder / "data.csv", *TRAIN, "-o", tmp_path / name)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_predict_writes_one_row_per_row_without_needing_the_group(
    folder, capsys, tmp_path, table, suffix
):
    source, target = tmp_path / f"in.{suffix}", tmp_path / f"out.{suffix}"
    bare = table.drop(columns=["sex", "hired"])
    bare.to_csv(source, index=False) if suffix == "csv" else bare.to_parquet(source)
    code, _, _ = run(capsys, "predict", folder / "model", source, "-o", target)
    written = pd.read_csv(target) if suffix == "csv" else pd.read_parquet(target)
    assert code == 0
    assert len(written) == len(table)
    assert list(written) == [
        *("probability", "prediction", "lower_f", "upper_f", "lower_m", "upper_m")
    ]
    assert set(written["prediction"]) <= {"yes", "no"}
    assert (written["lower_f"] <= written["probability"]).all()
    assert (written["probability"] <= written["upper_f"]).all()
    assert ((written["probability"] > 0.5) == (written["prediction"] == "yes")).all()


def test_predict_streams_chunks_to_the_same_result(folder, capsys, tmp_path, monkeypatch):
    run(capsys, "predict", folder / "model", folder / "data.csv", "-o", tmp_path / "whole.csv")
    from fairsmooth.data import files

    smaller = {**files.read_chunks.__kwdefaults__, "chunk_rows": 37}
    monkeypatch.setattr(files.read_chunks, "__kwdefaults__", smaller)
    run(capsys, "predict", folder / "model", folder / "data.csv", "-o", tmp_path / "parts.csv")
    whole, parts = (pd.read_csv(tmp_path / f"{name}.csv") for name in ("whole", "parts"))
    numbers = whole.columns.drop("prediction")
    # BLAS picks kernels by shape, so chunks may move the last digit: docs/reproducibility.md.
    np.testing.assert_allclose(parts[numbers], whole[numbers], rtol=0, atol=1e-12)
    clear = (whole["probability"] - 0.5).abs() > 1e-12
    assert (parts["prediction"] == whole["prediction"])[clear].all()


def test_audit_and_certificate_of_a_file(folder, capsys, tmp_path):
    code, out, _ = run(
        capsys, "audit", folder / "model", folder / "data.csv", "--json",
        "--report", tmp_path / "report.html",
    )  # fmt: skip
    document = json.loads(out)
    assert code == 0
    assert document["records"]
    assert document["measured_gap"] <= document["epsilon_tight"]
    page = (tmp_path / "report.html").read_text()
    assert "What is not" in page
    assert "default-src 'none'" in page
    assert "confirmed" in page
    code, out, _ = run(capsys, "certificate", folder / "model", "--json")
    assert json.loads(out)["groups"] == ["f", "m"]
    code, out, _ = run(capsys, "certificate", folder / "model")
    assert "For every input" in out


@pytest.mark.parametrize("what", ["datasets", "methods"])
def test_list(capsys, what):
    code, out, _ = run(capsys, "list", what)
    assert code == 0
    assert {"datasets": "adult", "methods": "FairBatch"}[what] in out


def test_positive_label_can_be_chosen(folder, capsys, tmp_path, table):
    run(capsys, "train", folder / "data.csv", *TRAIN, "--positive", "no", "-o", tmp_path / "m")
    run(capsys, "predict", tmp_path / "m", folder / "data.csv", "-o", tmp_path / "p.csv")
    written = pd.read_csv(tmp_path / "p.csv")
    assert ((written["probability"] > 0.5) == (written["prediction"] == "no")).all()


def test_a_mistake_in_the_columns_names_the_near_ones(folder, capsys, tmp_path):
    line = fails_with(
        capsys, "train", folder / "data.csv", "--label", "hire", "--sensitive", "sex",
        "-o", tmp_path / "m",
    )  # fmt: skip
    assert "Expected a column named 'hire'" in line
    assert "Did you mean 'hired'?" in line
    assert not (tmp_path / "m").exists()


def test_a_missing_file_is_one_line(capsys, tmp_path):
    line = fails_with(capsys, "train", tmp_path / "none.csv", *TRAIN, "-o", tmp_path / "m")
    assert "found no file at" in line
    line = fails_with(capsys, "certificate", tmp_path / "none")
    assert "Expected a model file, found none" in line


def test_an_unknown_kind_of_file_is_one_line(capsys, tmp_path):
    (tmp_path / "data.json").write_text("x")
    line = fails_with(capsys, "train", tmp_path / "data.json", *TRAIN, "-o", tmp_path / "m")
    assert "Expected a file that ends in .csv" in line


@pytest.mark.parametrize(
    ("contents", "told"),
    [("", "got an empty file"), ("sex,years,degree,hired\n", "got no row that can be used")],
)
def test_an_empty_table_is_one_line(capsys, tmp_path, contents, told):
    (tmp_path / "data.csv").write_text(contents)
    line = fails_with(capsys, "train", tmp_path / "data.csv", *TRAIN, "-o", tmp_path / "m")
    assert told in line


def test_a_broken_parquet_file_is_one_line(capsys, tmp_path):
    (tmp_path / "data.parquet").write_bytes(b"PAR1 not really")
    line = fails_with(capsys, "train", tmp_path / "data.parquet", *TRAIN, "-o", tmp_path / "m")
    assert "Expected a Parquet table" in line


def _train_on(capsys, tmp_path, frame, *extra):
    frame.to_csv(tmp_path / "bad.csv", index=False)
    return fails_with(capsys, "train", tmp_path / "bad.csv", *TRAIN, "-o", tmp_path / "m", *extra)


def test_labels_must_have_two_values(capsys, tmp_path, table):
    assert "got 1: 'yes'" in _train_on(capsys, tmp_path, table.assign(hired="yes"))
    many = table.assign(hired=table["years"])
    assert "Expected a label with 2 values in 'hired', got 20" in _train_on(capsys, tmp_path, many)
    missing = table.assign(hired=table["hired"].where(table["years"] > 0))
    assert "Expected a label in every row" in _train_on(capsys, tmp_path, missing, "--strict")
    assert "Expected --positive to be one of ['no', 'yes']" in _train_on(
        capsys, tmp_path, table, "--positive", "maybe"
    )


def test_groups_that_cannot_be_trained_are_named_with_their_count(capsys, tmp_path, table):
    lone = table.copy()
    lone.loc[0, "sex"] = "x"
    assert "got group 'x' with too few rows" in _train_on(capsys, tmp_path, lone)
    one_class = table.assign(hired=np.where(table["sex"] == "f", "no", table["hired"]))
    count = int((table["sex"] == "f").sum())
    line = _train_on(capsys, tmp_path, one_class)
    assert f"got group 'f' with one class only: 0 positive of {count} rows" in line
    unknown = table.assign(sex=table["sex"].where(table.index != 7))
    line = _train_on(capsys, tmp_path, unknown, "--strict")
    assert "got 1 missing (the first in row 8)" in line


def test_infinite_features_are_named(capsys, tmp_path, table):
    infinite = table.assign(years=table["years"].astype(float).where(table.index != 3, np.inf))
    assert "years" in _train_on(capsys, tmp_path, infinite)


def test_bad_options_are_one_line(capsys, tmp_path, table):
    assert "Expected sigma >= 0, got sigma=-1.0" in _train_on(
        capsys, tmp_path, table, "--sigma", -1
    )
    assert "Expected --hidden" in _train_on(capsys, tmp_path, table, "--hidden", "wide")
    assert "test_size" in _train_on(capsys, tmp_path, table, "--test-size", 1.5)
    line = fails_with(capsys, "train", "data.csv")
    assert "Missing option" in line
    assert "No such" in fails_with(capsys, "trian")


def test_a_new_category_at_prediction_is_named(folder, capsys, tmp_path, table):
    table.assign(degree="doctor").to_csv(tmp_path / "new.csv", index=False)
    line = fails_with(
        capsys, "predict", folder / "model", tmp_path / "new.csv", "-o", tmp_path / "p.csv",
        "--strict",
    )  # fmt: skip
    assert "Row 1: " in line
    assert "--unknown ignore" in line
    assert "degree" in line
    assert "doctor" in line
    assert not (tmp_path / "p.csv").exists()


def test_a_damaged_model_is_one_line(folder, capsys, tmp_path):
    contents = (folder / "model").read_bytes()
    (tmp_path / "cut").write_bytes(contents[:-20])
    assert "damaged" in fails_with(capsys, "certificate", tmp_path / "cut")
    (tmp_path / "changed").write_bytes(contents[:-1] + bytes([contents[-1] ^ 64]))
    assert "digest does not match" in fails_with(capsys, "certificate", tmp_path / "changed")


def test_an_output_that_cannot_be_written_is_one_line(folder, capsys, tmp_path):
    line = fails_with(
        capsys, "predict", folder / "model", folder / "data.csv", "-o", tmp_path / "no" / "p.csv"
    )
    assert "Expected to be able to write" in line
    (tmp_path / "file").write_text("")
    line = fails_with(capsys, "demo", "--out", tmp_path / "file" / "demo")
    assert "Expected to be able to write" in line


def test_debug_shows_the_traceback(capsys, tmp_path):
    code, _, err = run(capsys, "certificate", tmp_path / "none", "--debug")
    assert code == 2
    assert "Traceback" in err


def test_version_and_help(capsys):
    assert run(capsys, "--version")[1].startswith("fairsmooth ")
    assert "predict" in run(capsys, "--help")[1]
