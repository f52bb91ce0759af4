"""A folder worked on part by part: the same numbers, each part once, and no other run's."""

import json

import pandas as pd
import pyarrow.parquet as pq
import pytest
from tests.integration.hiring import people

from fairsmooth.cli.main import main
from fairsmooth.exceptions import InputError
from fairsmooth.metrics.auditing.in_parts import ScoredPart, audit_parts
from fairsmooth.tables import TableModel
from fairsmooth.tables.part_folder import NAME, PartFolder
from fairsmooth.tables.part_work import predict_part


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("parts")
    (folder / "table" / "year=2024").mkdir(parents=True)
    train, new = people(400, 0), people(300, 1)
    model = TableModel.fit(
        train, label="hired", sensitive="sex", ids=["id"], drop=["score"], random_state=0
    )
    model.save(folder / "model.safetensors")
    new.iloc[:120].to_parquet(folder / "table" / "a.parquet", index=False)
    new.iloc[:0].to_parquet(folder / "table" / "b.parquet", index=False)
    rest = new.iloc[120:].copy()
    rest.loc[rest.index[3], "years"] = None  # training had no such row
    rest.to_parquet(folder / "table" / "year=2024" / "c.parquet", index=False)
    return folder


def run(*words):
    return main([str(word) for word in words])


def predicted(path):
    return pd.read_parquet(path).sort_values("id", ignore_index=True)


def test_parts_have_the_scores_of_the_whole(folder, tmp_path, capsys):
    model, table = folder / "model.safetensors", folder / "table"
    assert run("predict", model, table, "-o", tmp_path / "parts", "--keep", "sex") == 0
    assert "Wrote 300 rows in 3 parts" in capsys.readouterr().err
    assert run("predict", model, table, "-o", tmp_path / "whole.parquet", "--keep", "sex") == 0
    whole, parts = predicted(tmp_path / "whole.parquet"), predicted(tmp_path / "parts")
    pd.testing.assert_frame_equal(parts[whole.columns], whole, check_dtype=False)
    assert parts["reason"].notna().sum() == 1


def test_a_worker_that_lives_on_knows_a_model_by_its_contents(folder, tmp_path, capsys):
    path, table = tmp_path / "model", folder / "table"
    for seed in (0, 1):
        words = {"label": "hired", "sensitive": "sex", "ids": ["id"], "random_state": seed}
        model = TableModel.fit(people(400, seed), drop=["score"], **words)
        model.save(path)
        assert run("predict", path, table, "-o", tmp_path / f"parts{seed}") == 0
        assert run("predict", path, table, "-o", tmp_path / "whole.parquet") == 0
        whole, parts = predicted(tmp_path / "whole.parquet"), predicted(tmp_path / f"parts{seed}")
        pd.testing.assert_frame_equal(parts[whole.columns], whole, check_dtype=False)


def test_a_model_that_was_replaced_after_the_run_began_is_refused(folder, tmp_path):
    path = tmp_path / "model"
    path.write_bytes((folder / "model.safetensors").read_bytes())
    known = {"model": path, "table": folder / "table", "options": {}}
    job = PartFolder.of(tmp_path / "parts", what="predict", **known).jobs[0]
    TableModel.fit(people(400, 3), label="hired", sensitive="sex", random_state=3).save(path)
    with pytest.raises(InputError, match="Expected the model that the run was begun with"):
        predict_part(job)


@pytest.mark.parametrize("words", [["predict", "-o"], ["audit", "--parts"]])
def test_what_is_odd_about_the_folder_is_told(folder, tmp_path, capsys, words):
    (tmp_path / "t").mkdir()
    people(40, 1).to_parquet(tmp_path / "t" / "a.parquet", index=False)
    people(40, 2).drop(columns="years").to_parquet(tmp_path / "t" / "b.parquet", index=False)
    (tmp_path / "t" / "c.csv").write_text("a\n1\n")
    command, option = words
    assert run(command, folder / "model.safetensors", tmp_path / "t", option, tmp_path / "o") == 0
    told = capsys.readouterr().err
    assert "Column 'years' is not in 1 of 2 files of t; it is missing in their rows." in told
    assert "not Parquet and no part of the table: c.csv." in told


def test_a_part_of_numbers_is_read_as_the_others(folder, tmp_path):
    (tmp_path / "t").mkdir()
    # In the first part the notes look like numbers, in the second like anything.
    for name, seed, notes in (("a", 1, ["1", "2"]), ("b", 2, ["07", "x"])):
        rows = people(40, seed).assign(note=notes * 20)
        rows.to_parquet(tmp_path / "t" / f"{name}.parquet", index=False)
    words = ["predict", folder / "model.safetensors", tmp_path / "t", "--keep", "note", "-o"]
    assert run(*words, tmp_path / "parts") == 0
    assert run(*words, tmp_path / "whole.parquet") == 0
    parts = [pd.read_parquet(tmp_path / "parts" / f"{name}.parquet") for name in "ab"]
    whole = pd.read_parquet(tmp_path / "whole.parquet")
    joined = pd.concat(parts, ignore_index=True)
    assert parts[0]["note"].dtype == parts[1]["note"].dtype == whole["note"].dtype
    assert joined["note"].tolist() == whole["note"].tolist()


def test_a_part_is_read_under_the_schema_of_the_table(folder, tmp_path, capsys):
    # Rows of the training, among which are the edges of bins: a float32 is beside its float64.
    whole = people(400, 0).assign(seat=1)
    parts = {
        "a": whole.iloc[:100].assign(seat=2**60),
        "b": whole.iloc[100:200].astype({"years": "float32"}).assign(seat=None),
        "empty": whole.iloc[:0].drop(columns="seat"),
        "team=01/c": whole.iloc[200:250],
        "team=x/d": whole.iloc[250:].drop(columns="seat"),
        "team=__HIVE_DEFAULT_PARTITION__/e": whole.iloc[:5].drop(columns="years"),
    }
    for name, rows in parts.items():
        (tmp_path / "t" / name).parent.mkdir(parents=True, exist_ok=True)
        rows.to_parquet(tmp_path / "t" / f"{name}.parquet", index=False)
    kept = [word for name in ("id", "seat", "team") for word in ("--keep", name)]
    words = ["predict", folder / "model.safetensors", tmp_path / "t", *kept, "-o"]
    assert run(*words, tmp_path / "parts") == 0
    assert run(*words, tmp_path / "whole.parquet") == 0
    found = pd.concat(
        [pd.read_parquet(tmp_path / "parts" / f"{n}.parquet", partitioning=None) for n in parts],
        ignore_index=True,
    )
    order = pd.read_parquet(tmp_path / "whole.parquet")
    schemas = {str(pq.read_schema(tmp_path / "parts" / f"{n}.parquet")) for n in parts}
    assert len(schemas) == 1
    keys = ["id", "team", "reason"]
    found, order = (t.sort_values(keys, ignore_index=True) for t in (found, order))
    pd.testing.assert_frame_equal(found[order.columns], order, rtol=0, atol=1e-12)
    assert {"01", "x"} < {*order["team"]}
    assert order["probability"].isna().sum() == 5


def test_a_part_without_a_row_to_audit_is_left_out(folder, tmp_path, capsys):
    (tmp_path / "t").mkdir()
    for name, lost in (("a", []), ("b", ["hired"]), ("c", ["sex"]), ("d", ["years"])):
        rows = people(60, ord(name))
        rows[lost] = None
        rows.to_parquet(tmp_path / "t" / f"{name}.parquet", index=False)
    words = ["audit", folder / "model.safetensors", tmp_path / "t", "--json"]
    assert run(*words) == 0
    whole = json.loads(capsys.readouterr().out)
    assert run(*words, "--parts", tmp_path / "scored") == 0
    out, said = capsys.readouterr()
    assert json.loads(out)["accuracy"] == pytest.approx(whole["accuracy"], abs=1e-12)
    assert json.loads(out)["n_rows"] == whole["n_rows"] == 60
    assert "In b.parquet, no row is audited. Expected labels in 'hired', as in other" in said
    assert "In c.parquet, no row is audited. Expected at least one row to audit" in said
    assert "In d.parquet, no row is audited. Row 1: years is missing" in said
    assert run(*words, "--parts", tmp_path / "strict", "--strict") == 2
    assert "In b.parquet: Expected a label in every row" in capsys.readouterr().err
    (tmp_path / "t" / "a.parquet").unlink()
    (tmp_path / "t" / "b.parquet").unlink()
    mistake(capsys, "In c.parquet, no row is audited.", *words, "--parts", tmp_path / "none")


def test_what_is_there_is_not_made_again(folder, tmp_path, capsys):
    words = ["predict", folder / "model.safetensors", folder / "table", "-o", tmp_path / "out"]
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / f".{NAME}.x1").touch()  # of a run that was killed as it began
    assert run(*words) == 0
    (tmp_path / "out" / "year=2024" / "c.parquet").unlink()
    kept = (tmp_path / "out" / "a.parquet").stat().st_mtime_ns
    assert run(*words, "--jobs", 2) == 0
    assert "180 rows in 1 parts" in capsys.readouterr().err
    assert (tmp_path / "out" / "a.parquet").stat().st_mtime_ns == kept
    assert run(*words) == 0
    assert "3 were there already" in capsys.readouterr().err


def test_an_audit_by_parts_is_that_of_the_whole(folder, tmp_path, capsys):
    words = ["audit", folder / "model.safetensors", folder / "table", "--json"]
    assert run(*words) == 0
    whole = json.loads(capsys.readouterr().out)
    for _ in range(2):  # the second time from what is there
        assert run(*words, "--parts", tmp_path / "scored") == 0
        parts = json.loads(capsys.readouterr().out)
        found = {(r["metric"], r["group"]): r for r in parts["records"]}
        assert len(found) == len(whole["records"]) > 100
        for record in whole["records"]:
            mine = found[record["metric"], record["group"]]
            for name in ("value", "low", "high", "count"):
                assert mine[name] == pytest.approx(record[name], abs=1e-12)


def test_parts_without_labels_are_audited_alike(folder, tmp_path, capsys):
    (tmp_path / "t").mkdir()
    people(50, 3).drop(columns="hired").to_parquet(tmp_path / "t" / "a.parquet", index=False)
    words = ["audit", folder / "model.safetensors", tmp_path / "t", "--json"]
    assert run(*words, "--parts", tmp_path / "p") == 0
    assert json.loads(capsys.readouterr().out)["demographic_parity"] is not None


def mistake(capsys, message, *words):
    assert run(*words) == 2
    said = capsys.readouterr().err
    assert message in said
    assert len(said.strip().splitlines()) == 1


def test_mistakes_are_one_line(folder, tmp_path, capsys):
    model, table = folder / "model.safetensors", folder / "table"
    words = ["predict", model, table, "-o", tmp_path / "out"]
    assert run(*words) == 0
    capsys.readouterr()
    mistake(capsys, "got another: options differs", *words, "--keep", "sex")
    (tmp_path / "out" / NAME).write_text("no")
    mistake(capsys, "Expected what a run wrote in", *words)
    (tmp_path / "out" / NAME).unlink()
    mistake(capsys, "Expected an empty folder, or one of an earlier run", *words)
    mistake(capsys, "outside the table's folder", "predict", model, table, "-o", table / "out")
    one, folders = table / "a.parquet", "Expected a folder of Parquet files, and a folder to write"
    mistake(capsys, folders, "predict", model, one, "-o", tmp_path / "o.csv", "--jobs", 2)
    mistake(capsys, folders, "audit", model, one, "--parts", tmp_path / "o")
    by_parts = ["audit", model, table, "--parts", tmp_path / "o"]
    mistake(capsys, "with --parts, got --standard.", *by_parts, "--standard", "nyc-ll144")
    mistake(
        capsys,
        "In c.parquet: Row 4: years is missing",
        *words[:3],
        "-o",
        tmp_path / "strict",
        "--strict",
        "--jobs",
        2,
    )


def test_parts_must_all_have_labels_or_none(folder):
    model = TableModel.load(folder / "model.safetensors")
    rows, classes = model.audited(people(60, 2)), model.classifier.classes_
    how = {"sensitive_features": rows.sensitive}
    with_labels = ScoredPart.of(model.classifier, rows.X, classes[rows.y], **how)
    without = ScoredPart.of(model.classifier, rows.X, None, **how)
    with pytest.raises(InputError, match="Expected labels in all parts or in none"):
        audit_parts(model.classifier, [with_labels, without])
    with pytest.raises(InputError, match="got none in any part"):
        audit_parts(model.classifier, [])


def test_parts_need_a_certificate(folder):
    from sklearn.linear_model import LogisticRegression

    X, y = [[0.0], [1.0]] * 4, [0, 1] * 4
    with pytest.raises(InputError, match="Expected a classifier with a certificate"):
        ScoredPart.of(LogisticRegression().fit(X, y), X, y, sensitive_features=list("aabb") * 2)
