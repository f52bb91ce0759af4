"""Messy tables through train, predict, audit and verify, on the command line."""

import json

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.messy_tables import COLUMNS, N, messy

from fairsmooth.cli.main import main
from fairsmooth.estimator import FairSmoothClassifier
from fairsmooth.persistence import file_digest
from fairsmooth.tables import TableModel

ROLES = ["--label", "risk", "--positive", "good", "--sensitive", "sex"]


def call(*words):
    """Run one command; it must not fail."""
    assert main([str(word) for word in words]) == 0


def written(columns, folder):
    frame = pd.DataFrame({name: pd.Series(v, dtype=object) for name, v in columns.items()})
    frame.to_csv(folder / "t.csv", index=False)
    return folder / "t.csv"


@pytest.mark.parametrize("values", COLUMNS.values(), ids=COLUMNS)
def test_a_messy_table_goes_the_whole_way(values, tmp_path, capsys):
    table, model = written(messy(values), tmp_path), tmp_path / "m"
    call("train", table, *ROLES, "--unknown", "ignore", "--max-iter", 30, "--json", "-o", model)
    trained = json.loads(capsys.readouterr().out)
    call("predict", model, table, "--keep", "c", "-o", tmp_path / "p.csv")
    scores = pd.read_csv(tmp_path / "p.csv", keep_default_na=False)
    # Every row has a score or a reason, also those without a group, and none is out of place.
    assert len(scores) == N
    found = pd.to_numeric(scores["probability"]).to_numpy()
    assert ((found >= 0.0) & (found <= 1.0) | np.isnan(found)).all()
    unscored = scores["reason"] != "" if "reason" in scores else np.zeros(N, dtype=bool)
    np.testing.assert_array_equal(np.isnan(found), unscored)
    assert unscored.sum() <= 1
    again = TableModel.load(model).predict(table)["probability"]
    np.testing.assert_allclose(found, again, rtol=0, atol=1e-12)
    capsys.readouterr()
    call("audit", model, table, "--json")
    audited = json.loads(capsys.readouterr().out)
    # The gap that was measured on all rows is within the bound that training stated.
    assert audited["measured_gap"] <= trained["epsilon_tight"]
    call("verify", model)
    assert "The certificate holds." in capsys.readouterr().out


def test_the_same_table_in_any_form_gives_the_same_file_and_scores(tmp_path):
    columns = messy(COLUMNS["words-gaps"])
    plain, arrow = pd.DataFrame(columns), pa.table(columns)
    plain.to_csv(tmp_path / "a.csv", index=False)
    plain.to_csv(tmp_path / "b.csv", index=False, sep=";", decimal=",")
    plain.to_csv(tmp_path / "c.csv.gz", index=False)
    pq.write_table(arrow, tmp_path / "d.parquet")
    digests, scores = {}, {}
    for path in sorted(tmp_path.iterdir()):
        model = tmp_path / f"{path.name}.model"
        call("train", path, *ROLES, "--max-iter", 30, "-o", model)
        call("predict", model, path, "-o", tmp_path / f"{path.name}.scores.parquet")
        digests[path.name] = file_digest(model)
        written = pq.read_table(tmp_path / f"{path.name}.scores.parquet")
        scores[path.name] = written["probability"].to_pylist()
    roles = {"label": "risk", "positive": "good", "sensitive": ["sex"], "random_state": 0}
    chosen = FairSmoothClassifier(group_weights="share", max_iter=30)
    tables = {"pandas": plain, "arrow": arrow, "polars": pl.DataFrame(columns)}
    for name, table in tables.items():
        fitted = TableModel.fit(table, classifier=chosen, **roles)
        fitted.save(tmp_path / name)
        digests[name] = file_digest(tmp_path / name)
        scores[name] = [float(score) for score in fitted.predict(table)["probability"].to_numpy()]
    assert len(digests) == 7
    assert set(digests.values()) == {digests["a.csv"]}, digests
    assert all(found == scores["a.csv"] for found in scores.values())
