"""``predict`` on tables that are not all well: nothing stops a batch, nothing is lost."""

import numpy as np
import pandas as pd
import pytest

from fairsmooth.cli.main import main
from fairsmooth.data import files
from fairsmooth.tables import TableModel

N = 300


@pytest.fixture(scope="module")
def table():
    random = np.random.default_rng(0)
    years = random.integers(0, 20, N)
    return pd.DataFrame(
        {
            "customer": [f"c{i:04d}" for i in range(N)],
            "sex": random.choice(["f", "m"], N),
            "years": years,
            "degree": random.choice(["none", "master"], N),
            "hired": (years + random.normal(0, 5, N) > 9).astype(int),
        }
    )


@pytest.fixture(scope="module")
def folder(tmp_path_factory, table):
    folder = tmp_path_factory.mktemp("predict")
    table.to_csv(folder / "data.csv", index=False)
    roles = ["--label", "hired", "--sensitive", "sex", "--id", "customer"]
    assert main(["train", str(folder / "data.csv"), *roles, "-o", str(folder / "model")]) == 0
    return folder


def predict(folder, source, target, *options):
    words = ["predict", folder / "model", source, "-o", target, *options]
    return main([str(word) for word in words])


def test_ids_and_kept_columns_come_along(folder, table, tmp_path):
    assert predict(folder, folder / "data.csv", tmp_path / "p.csv", "--keep", "degree") == 0
    written = pd.read_csv(tmp_path / "p.csv", keep_default_na=False)
    assert list(written)[:4] == ["customer", "degree", "probability", "prediction"]
    assert written["customer"].tolist() == table["customer"].tolist()
    assert "reason" not in written


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
@pytest.mark.parametrize("bad", [0, 250])
def test_a_row_that_cannot_be_scored_says_why(
    folder, table, tmp_path, capsys, monkeypatch, suffix, bad
):
    monkeypatch.setattr(files.read_chunks, "__kwdefaults__", _smaller_chunks())
    spoiled = table.drop(columns=["sex", "hired"])
    spoiled.loc[bad, "degree"] = "doctor"
    spoiled.to_csv(tmp_path / "bad.csv", index=False)
    assert predict(folder, tmp_path / "bad.csv", tmp_path / f"p.{suffix}") == 0
    assert "1 of them could not be scored" in capsys.readouterr().err
    read = pd.read_csv if suffix == "csv" else pd.read_parquet
    written = read(tmp_path / f"p.{suffix}")
    assert len(written) == N
    scores = ["probability", "prediction", "lower_f", "upper_f", "lower_m", "upper_m"]
    assert written.loc[bad, scores].isna().all()
    assert "doctor" in written.loc[bad, "reason"]
    rest = written.drop(index=bad)
    assert rest[scores].notna().all(axis=None)
    assert rest["reason"].isna().all()


def _smaller_chunks():
    return {**files.read_chunks.__kwdefaults__, "chunk_rows": 100}


def test_strict_names_the_row_of_the_file(folder, table, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(files.read_chunks, "__kwdefaults__", _smaller_chunks())
    spoiled = table.copy()
    spoiled.loc[[249, 260], "degree"] = "doctor"
    spoiled.to_csv(tmp_path / "bad.csv", index=False)
    assert predict(folder, tmp_path / "bad.csv", tmp_path / "p.csv", "--strict") == 2
    assert "Row 250: " in capsys.readouterr().err
    assert not (tmp_path / "p.csv").exists()


def test_the_threshold_can_be_moved(folder, tmp_path):
    assert predict(folder, folder / "data.csv", tmp_path / "p.csv", "--threshold", "0.9") == 0
    written = pd.read_csv(tmp_path / "p.csv")
    assert ((written["probability"] > 0.9) == (written["prediction"] == 1)).all()


def test_a_table_without_rows_gives_one_without_rows(folder, table, tmp_path):
    table[:0].to_csv(tmp_path / "none.csv", index=False)
    assert predict(folder, tmp_path / "none.csv", tmp_path / "p.csv") == 0
    assert (tmp_path / "p.csv").read_text().startswith("customer,probability,prediction,lower_f")


def test_a_kept_column_must_not_hide_a_score(folder, table, tmp_path, capsys):
    table.assign(probability=1).to_csv(tmp_path / "t.csv", index=False)
    assert predict(folder, tmp_path / "t.csv", tmp_path / "p.csv", "--keep", "probability") == 2
    assert "names of their own, got 'probability'" in capsys.readouterr().err


def test_scores_are_those_of_the_classifier(folder, table):
    model = TableModel.load(folder / "model")
    features = model.encoder.transform(table)
    written = model.predict(table)
    np.testing.assert_allclose(
        written["probability"], model.classifier.predict_proba(features)[:, 1], rtol=0, atol=1e-12
    )
    np.testing.assert_allclose(
        written[["lower_m", "upper_m"]],
        model.classifier.predict_interval(features)[:, 1],
        rtol=0,
        atol=1e-12,
    )
    assert (written["prediction"] == model.classifier.predict(features)).all()


def test_codes_stay_codes_in_a_table_that_has_only_numbers(tmp_path, table):
    coded = table.assign(code=np.resize(["01", "2", "X"], N))
    coded.to_csv(tmp_path / "data.csv", index=False)
    roles = ["--label", "hired", "--sensitive", "sex", "--drop", "customer"]
    words = ["train", tmp_path / "data.csv", *roles, "-o", tmp_path / "model"]
    assert main([str(word) for word in words]) == 0
    coded.assign(code="2").to_csv(tmp_path / "new.csv", index=False)
    assert predict(tmp_path, tmp_path / "new.csv", tmp_path / "p.csv", "--strict") == 0
    model = TableModel.load(tmp_path / "model")
    expected = model.predict(coded)["probability"][1::3]
    written = pd.read_csv(tmp_path / "p.csv")["probability"][1::3]
    np.testing.assert_allclose(written, expected, rtol=0, atol=1e-12)
