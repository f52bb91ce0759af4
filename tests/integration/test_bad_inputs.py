"""Bad tables, options, files and signals: one line, the right exit code, nothing half-written."""

import os
import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from fairsmooth import FairSmoothClassifier
from fairsmooth.cli.main import main
from fairsmooth.persistence import save

HEADER = "sex,years,degree,hired\n"
ROLES = ("--label", "hired", "--sensitive", "sex")


def people(n=240, seed=0):
    random = np.random.default_rng(seed)
    sex = random.choice(["f", "m"], n)
    years = random.integers(0, 20, n)
    degree = random.choice(["none", "bachelor", "master"], n)
    logit = 0.3 * (years - 9) + (degree == "master") + random.logistic(size=n)
    return pd.DataFrame(
        {"sex": sex, "years": years, "degree": degree, "hired": np.where(logit > 0, "yes", "no")}
    )


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    """Return a folder with good tables and models, to be spoiled by each case."""
    folder = tmp_path_factory.mktemp("world")
    people().to_csv(folder / "good.csv", index=False)
    people().to_parquet(folder / "good.parquet")
    assert main(["train", str(folder / "good.csv"), *ROLES, "-o", str(folder / "model")]) == 0
    X, groups = np.random.default_rng(0).normal(size=(60, 2)), np.tile([0, 1], 30)
    bare = FairSmoothClassifier().fit(X, X[:, 0] > 0, sensitive_features=groups)
    save(bare, folder / "bare")
    contents = (folder / "model").read_bytes()
    (folder / "cut").write_bytes(contents[:-20])
    (folder / "flipped").write_bytes(contents[:-1] + bytes([contents[-1] ^ 64]))
    (folder / "empty").write_bytes(b"")
    (folder / "text").write_text("not a model")
    (folder / "huge-header").write_bytes((2**62).to_bytes(8, "little") + b"{}")
    (folder / "empty.csv").write_text("")
    (folder / "header.csv").write_text(HEADER)
    return folder


def snapshot(folder: Path):
    return {
        str(path.relative_to(folder)): path.read_bytes() if path.is_file() else None
        for path in sorted(folder.rglob("*"))
    }


@pytest.fixture
def refused(world, tmp_path, capsys):
    """Return a check: exit code 2, one line, standard output empty, no file touched."""
    shutil.copytree(world, tmp_path / "w")

    def check(arguments, *fragments):
        os.chdir(tmp_path / "w")
        before = snapshot(tmp_path)
        code = main([str(argument) for argument in arguments])
        captured = capsys.readouterr()
        lines = [line for line in captured.err.splitlines() if line.strip()]
        assert code == 2, captured.err
        assert captured.out == ""
        assert len(lines) == 1, captured.err
        assert "Traceback" not in captured.err
        for fragment in fragments:
            assert fragment in lines[0]
        assert snapshot(tmp_path) == before

    here = Path.cwd()
    yield check
    os.chdir(here)


# --- tables -------------------------------------------------------------------------------------


def rows(text, count=120):
    """Return a table: good rows, then the given lines."""
    return (people(count).to_csv(index=False) + text).encode()


def column(**columns):
    return people().assign(**columns).to_csv(index=False).encode()


N = len(people())
TABLES = {
    "nothing": (b"", "empty"),
    "a newline": (b"\n", "Expected"),
    "a header only": (HEADER.encode(), "Expected"),
    "a header without an end": (HEADER.strip().encode(), "Expected"),
    "one row": (b"sex,years,degree,hired\nf,1,none,yes\n", "Expected"),
    "two rows": (b"sex,years,degree,hired\nf,1,none,yes\nm,2,none,no\n", "Expected"),
    "zero bytes": (b"\0" * 100, "Expected"),
    "a zero byte in a field": (rows("f,1,no\0ne,yes\n"), "Expected"),
    "not UTF-8": (rows("").replace(b"none", b"caf\xe9"), "Expected"),
    "UTF-16 without a mark": (people().to_csv(index=False).encode("utf-16-le"), "Expected"),
    "a field more": (rows("f,1,none,yes,more\n"), "Expected"),
    "a field less": (rows("f,1,none\n"), "Expected"),
    "an open quote": (rows('f,1,"none,yes\n'), "Expected"),
    "the same name twice": (b"sex,sex,years,hired\n" + b"f,f,1,yes\nm,m,2,no\n" * 50, "twice"),
    "an empty name": (b"sex,,years,hired\n" + b"f,a,1,yes\nm,b,2,no\n" * 50, "Expected"),
    "no label column": (people().drop(columns="hired").to_csv(index=False).encode(), "'hired'"),
    "no sensitive column": (people().drop(columns="sex").to_csv(index=False).encode(), "'sex'"),
    "no feature": (people()[["sex", "hired"]].to_csv(index=False).encode(), "at least one column"),
    "only a constant feature": (
        people()[["sex", "hired"]].assign(x=1).to_csv(index=False).encode(), "Expected",
    ),
    "one label": (column(hired="yes"), "2 values"),
    "three labels": (column(hired=np.resize(["yes", "no", "maybe"], N)), "2 values"),
    "labels by number": (column(hired=np.arange(N)), "2 values"),
    "no labels at all": (column(hired=""), "Expected"),
    "labels that do not speak": (column(hired=np.resize(["granted", "denied"], N)), "positive"),
    "labels 1 and 2": (column(hired=np.resize([1, 2], N)), "positive"),
    "one group": (column(sex="f"), "at least 2 groups"),
    "no groups at all": (column(sex=""), "Expected"),
    "every row a group": (column(sex=np.arange(N)), "group"),
    "a group of one row": (column(sex=["x", *people()["sex"][1:]]), "'x'"),
    "a group with one label": (
        column(hired=np.where(people()["sex"] == "f", "no", people()["hired"])), "one class only",
    ),
    "an infinite number": (column(years=["inf", *people()["years"][1:]]), "years"),
    "a number beyond float64": (column(years=["1e999", *people()["years"][1:]]), "years"),
    "an integer of 400 digits": (column(years=["9" * 400, *people()["years"][1:]]), "years"),
    "Parquet under the name of CSV": (b"PAR1" + b"\0" * 50, "Parquet"),
    "gzip under the name of CSV": (b"\x1f\x8b" + b"\0" * 50, "gzip"),
}  # fmt: skip


@pytest.mark.parametrize("case", TABLES, ids=str)
@pytest.mark.parametrize("command", ["train", "tune"])
def test_tables_that_cannot_be_learned_from(refused, tmp_path, command, case):
    contents, fragment = TABLES[case]
    (tmp_path / "w" / "bad.csv").write_bytes(contents)
    extra = ("--trials", "1") if command == "tune" else ()
    refused([command, "bad.csv", *ROLES, "-o", "out", *extra], fragment)


def parquet(**columns):
    return lambda path: people().assign(**columns).to_parquet(path)


BINARY = {
    "lists": ("bad.parquet", parquet(years=[[1, 2]] * N), "years"),
    "dicts": ("bad.parquet", parquet(years=[{"a": 1}] * N), "years"),
    "bytes": ("bad.parquet", parquet(years=[b"x"] * N), "years"),
    "lists as groups": ("bad.parquet", parquet(sex=[["f"], ["m"]] * (N // 2)), "sex"),
    "lists as labels": ("bad.parquet", parquet(hired=[["y"], ["n"]] * (N // 2)), "hired"),
    "no rows": ("bad.parquet", lambda path: people()[:0].to_parquet(path), "Expected"),
    "broken Parquet": ("bad.parquet", lambda path: path.write_bytes(b"PAR1 no"), "Expected"),
    "CSV under the name of Parquet": ("bad.parquet", lambda p: p.write_text(HEADER), "Expected"),
    "broken gzip": ("bad.csv.gz", lambda path: path.write_bytes(b"\x1f\x8bno"), "Expected"),
    "text under the name of gzip": ("bad.csv.gz", lambda p: p.write_text(HEADER), "Expected"),
    "broken zstd": ("bad.csv.zst", lambda p: p.write_bytes(b"\x28\xb5\x2f\xfdno"), "Expected"),
    "broken Excel": ("bad.xlsx", lambda path: path.write_bytes(b"PK\x03\x04no"), "Expected"),
    "an unknown ending": ("bad.json", lambda path: path.write_text("{}"), "ends in"),
    "no ending": ("bad", lambda path: path.write_text(HEADER), "ends in"),
    "an empty folder": ("bad", lambda path: path.mkdir(), "Expected"),
    "no file": ("none.csv", lambda path: None, "no file"),
}  # fmt: skip


@pytest.mark.parametrize("case", BINARY, ids=str)
@pytest.mark.parametrize("command", ["train", "predict", "audit"])
def test_files_that_hold_no_table(refused, tmp_path, command, case):
    name, write, fragment = BINARY[case]
    if command != "train" and "as " in case:
        pytest.skip("labels and groups are not needed to predict")
    if command == "predict" and case == "no rows":
        pytest.skip("a table without rows is predicted to one without rows")
    write(tmp_path / "w" / name)
    arguments = {
        "train": ["train", name, *ROLES, "-o", "out"],
        "predict": ["predict", "model", name, "-o", "out.csv", "--strict"],
        "audit": ["audit", "model", name],
    }
    refused(arguments[command], fragment)


# --- options ------------------------------------------------------------------------------------

TRAIN_OPTIONS = {
    "--sigma -1": "sigma", "--sigma nan": "sigma", "--sigma inf": "sigma", "--sigma x": "--sigma",
    "--alpha -1": "alpha", "--alpha nan": "alpha", "--alpha inf": "alpha", "--alpha x": "--alpha",
    "--link tanh": "link", "--link ''": "link",
    "--hidden wide": "--hidden", "--hidden 1000000000": "--hidden", "--hidden 0": "--hidden",
    "--hidden -3": "--hidden", "--hidden 1.5": "--hidden", f"--hidden {'9' * 400}": "--hidden",
    f"--hidden {'9' * 5000}": "--hidden", "--hidden 16000,16000": "--hidden",
    "--parity some": "parity", "--parity both --parity-weight -1": "parity_weight",
    "--parity both --parity-weight nan": "parity_weight", "--parity both --parity-weight 0": "> 0",
    "--parity-weight 1": "--parity", "--parity both --parity-weight x": "--parity-weight",
    "--parity-limits 0.1": "--parity-limits", "--parity-limits a,b": "--parity-limits",
    "--parity-limits -1,0.1": "parity_tolerance", "--parity-limits nan,nan": "parity_tolerance",
    "--parity-limits 0.1,0.1 --parity-weight 1": "--parity-weight",
    "--parity-limits 0.1,0.1 --guarantee-dp 0.1": "--parity-limits",
    "--group-weights fair": "group_weights",
    "--max-iter 0": "max_iter", "--max-iter -5": "max_iter", "--max-iter x": "--max-iter",
    "--unknown maybe": "unknown", "--columns some": "columns",
    "--test-size 0": "test_size", "--test-size 1": "test_size", "--test-size nan": "test_size",
    "--test-size -1": "test_size",
    "--seed -1": "--seed", "--seed x": "--seed", "--seed 1.5": "--seed",
    f"--seed {'9' * 400}": "--seed", f"--seed {'9' * 5000}": "--seed", f"--seed {2**32}": "--seed",
    "--positive maybe": "positive", "--drop none": "'none'", "--drop hired": "hired",
    "--id none": "'none'", "--id hired": "hired", "--id sex": "sex",
    "--sensitive hired": "'hired'", "--sensitive none": "'none'", "--sensitive sex": "sex",
    "--sensitive years:1": "years", "--sensitive years:0": "years",
    "--sensitive degree:3": "degree",
    "--sensitive none:4": "none", "--sensitive years": "group",
    "--drop years --drop degree": "at least one column",
    "--sep ;;": "sep", "--sep ''": "sep", "--decimal x": "decimal",
    "--encoding klingon": "Expected",
    "--encoding utf-16": "Expected",
    "--nonsense": "--nonsense", "--sigma": "--sigma", "more.csv": "more.csv",
}  # fmt: skip


def words(text):
    return ["" if word == "''" else word for word in text.split()]


@pytest.mark.parametrize("options", TRAIN_OPTIONS, ids=lambda text: text[:40])
def test_options_of_train(refused, options):
    refused(["train", "good.csv", *ROLES, "-o", "out", *words(options)], TRAIN_OPTIONS[options])


def test_a_part_to_hold_out_that_would_be_empty(refused, tmp_path):
    people(40).to_csv(tmp_path / "w" / "small.csv", index=False)
    refused(["train", "small.csv", *ROLES, "-o", "out", "--test-size", "0.01"], "hold out")


TUNE_OPTIONS = {
    "--max-dp nan": "max_dp", "--max-dp -1": "max_dp", "--max-dp inf": "max_dp",
    "--max-dp x": "--max-dp", "--max-eo nan": "max_eo", "--max-eo -0.1": "max_eo",
    "--max-epsilon nan": "max_epsilon", "--max-epsilon -1": "max_epsilon",
    "--trials 0": "--trials", "--trials -1": "--trials", "--trials many": "--trials",
    "--jobs 0": "--jobs", "--jobs -2": "--jobs", "--jobs x": "--jobs",
    "--seed -1": "--seed", "--test-size nan": "test_size", "--hidden 0": "--hidden",
    "--hidden 1000000000": "--hidden", "--columns some": "columns", "--positive maybe": "positive",
    "--unknown ignore": "--unknown", "--sensitive none": "'none'", "--drop none": "'none'",
    "--folds 1": "--folds", "--aim x": "--aim", "--aim 2": "aim",
    "--columns binned,some": "columns",
}  # fmt: skip


@pytest.mark.parametrize("options", TUNE_OPTIONS)
def test_options_of_tune(refused, tmp_path, options):
    (tmp_path / "w" / "out").mkdir()
    refused(["tune", "good.csv", *ROLES, "-o", "out", *words(options)], TUNE_OPTIONS[options])


PREDICT_OPTIONS = {
    "--keep none": "'none'", "--threshold 2": "threshold", "--threshold -1": "threshold",
    "--threshold nan": "threshold", "--threshold x": "--threshold", "--unknown maybe": "unknown",
    "--sep ;;": "sep", "--decimal ;": "decimal", "--encoding klingon": "Expected",
    "--nonsense": "--nonsense",
}  # fmt: skip


@pytest.mark.parametrize("options", PREDICT_OPTIONS)
def test_options_of_predict(refused, options):
    refused(
        ["predict", "model", "good.csv", "-o", "out.csv", *words(options)], PREDICT_OPTIONS[options]
    )


OTHER_COMMANDS = {
    "": None,
    "trian good.csv": "No such command",
    "train": "Missing",
    "train good.csv": "Missing option",
    "train good.csv --label hired": "Missing option",
    "train good.csv --label hired --sensitive sex": "Missing option",
    "train --label hired --sensitive sex -o out": "Missing argument",
    "predict model": "Missing",
    "predict model good.csv": "Missing option",
    "predict": "Missing",
    "audit model": "Expected a model and a table",
    "audit model good.csv --scores years": "either a model or --scores",
    "audit model good.csv --label hired": "from the model",
    "audit model good.csv --csv out.csv": "--standard",
    "audit model good.csv --standard eu": "nyc-ll144",
    "audit model good.csv --max-dp -1": "demographic_parity",
    "audit good.csv --scores years": "--sensitive",
    "audit good.csv --scores years --sensitive sex": "go from",
    "audit good.csv --scores none --sensitive sex": "'none'",
    "audit good.csv --scores degree --sensitive sex": "Expected scores, or decisions",
    "audit": "Missing",
    "certificate": "Missing",
    "verify": "a model file or --guarantee",
    "verify model --attack nan": "--attack",
    "verify model --attack -1": "--attack",
    "verify model --attack inf": "--attack",
    "verify model --attack x": "--attack",
    "verify model --seed x": "--seed",
    "tune good.csv": "Missing option",
    "demo --dataset titanic --out out": "dataset",
    "demo --sensitive age --out out": "sensitive",
    "demo --seed -1 --out out": "--seed",
    "demo --out good.csv": "Expected to be able to write",
    "list": "Missing",
    "list everything": "everything",
    "reproduce table9 --out out": "table9",
    "reproduce table1 --profile huge --out out": "profile",
    "--nonsense": "--nonsense",
}


@pytest.mark.parametrize("line", [line for line in OTHER_COMMANDS if line])
def test_commands_that_cannot_be_run(refused, line):
    refused(line.split(), OTHER_COMMANDS[line])


# --- model files --------------------------------------------------------------------------------

MODELS = {
    "none": "found none", "cut": "damaged", "flipped": "digest", "empty": "Expected",
    "text": "something else", "huge-header": "Expected", "good.csv": "Expected",
    "good.parquet": "Expected", ".": "Expected",
}  # fmt: skip


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("command", ["certificate", "predict", "audit"])
def test_files_that_are_no_model(refused, command, name):
    data = {"certificate": [], "predict": ["good.csv", "-o", "out.csv"], "audit": ["good.csv"]}
    refused([command, name, *data[command]], MODELS[name])


@pytest.mark.parametrize("name", ["none", "empty", "text", "huge-header", "good.csv", "."])
def test_verify_refuses_what_is_no_model(refused, name):
    refused(["verify", name], "Expected")


BARE = {
    "audit bare good.csv": "Expected the model of a table",
    "predict bare good.csv -o out.csv": "Expected 2 columns",
    "predict bare header.csv -o out.csv": "Expected 2 columns",
}


@pytest.mark.parametrize("line", BARE)
def test_a_classifier_saved_from_python(refused, line):
    refused(line.split(), BARE[line])


# --- tables to predict and audit ----------------------------------------------------------------


def without(name):
    return people().drop(columns=name)


PREDICTED = {
    "a column less": (without("years"), "'years'"),
    "the other columns": (people()[["sex", "hired"]], "Expected a column"),
    "a new category": (people().assign(degree="doctor"), "Row 1"),
    "a word among numbers": (people().assign(years=["many", *["3"] * (N - 1)]), "Row 1"),
    "infinity": (people().assign(years=["inf", *["3"] * (N - 1)]), "Row 1"),
}


@pytest.mark.parametrize("case", PREDICTED)
def test_tables_that_cannot_be_predicted_strictly(refused, tmp_path, case):
    table, fragment = PREDICTED[case]
    table.to_csv(tmp_path / "w" / "bad.csv", index=False)
    refused(["predict", "model", "bad.csv", "-o", "out.csv", "--strict"], fragment)


AUDITED = {
    "no group": (without("sex"), (), "'sex'"),
    "a column less": (without("years"), (), "'years'"),
    "another label": (people().assign(hired="maybe"), (), "Expected the labels"),
    "another group": (people().assign(sex="x"), (), "groups of the model"),
    "a label missing, strictly": (
        people().assign(hired=[None, *people()["hired"][1:]]), ("--strict",), "row 1",
    ),
    "a group missing, strictly": (
        people().assign(sex=[None, *people()["sex"][1:]]), ("--strict",), "row 1",
    ),
    "no label in any row, strictly": (people().assign(hired=""), ("--strict",), "row 1"),
    "a limit that needs labels": (without("hired"), ("--max-eo", "0.1"), "--max-eo"),
    "no rows": (people()[:0], (), "Expected"),
    "a new category": (people().assign(degree="doctor"), (), "doctor"),
}  # fmt: skip


@pytest.mark.parametrize("case", AUDITED)
def test_tables_that_cannot_be_audited(refused, tmp_path, case):
    table, options, fragment = AUDITED[case]
    table.to_csv(tmp_path / "w" / "bad.csv", index=False)
    refused(["audit", "model", "bad.csv", *options], fragment)


# --- outputs ------------------------------------------------------------------------------------


@pytest.fixture
def links(tmp_path, refused):
    folder = tmp_path / "w"
    (folder / "symbolic.csv").symlink_to("good.csv")
    (folder / "hard.csv").hardlink_to(folder / "good.csv")
    (folder / "sub").mkdir()
    (folder / "sub" / "way").symlink_to("..")
    (folder / "parts").mkdir()
    shutil.copy(folder / "good.parquet", folder / "parts" / "one.parquet")
    return refused


SAME = ["good.csv", "./good.csv", "sub/../good.csv", "symbolic.csv", "hard.csv", "sub/way/good.csv"]


@pytest.mark.parametrize("target", SAME)
@pytest.mark.parametrize(
    "command",
    [
        ["train", "good.csv", *ROLES, "-o"],
        ["predict", "model", "good.csv", "-o"],
        ["audit", "model", "good.csv", "--report"],
    ],
    ids=lambda command: command[0],
)
def test_the_input_is_never_written_over(links, command, target):
    links([*command, target], "other than the input")


OUTPUTS = {
    "predict model good.csv -o model": "other than the input",
    "audit model good.csv --report model": "other than the input",
    "predict model parts -o parts/one.parquet": "other than the input",
    "predict model parts -o parts/new.parquet": "other than the input",
    "predict model good.csv -o sub": "folder",
    "predict model good.csv -o .": "folder",
    "predict model good.csv -o none/out.csv": "able to write",
    "predict model good.csv -o good.csv/out.csv": "able to write",
    "predict model good.csv -o /proc/none/out.csv": "able to write",
    "predict model good.csv -o out.xlsx": "ends in",
    "predict model good.csv -o out.json": "ends in",
    "predict model good.csv -o out": "ends in",
    "audit model good.csv --report sub": "folder",
    "audit model good.csv --report none/out.html": "able to write",
    "tune good.csv --label hired --sensitive sex -o good.csv": "able to write",
    "tune good.csv --label hired --sensitive sex -o /proc/none": "able to write",
}


@pytest.mark.parametrize("line", OUTPUTS)
def test_outputs_are_checked_before_the_work(links, line):
    links(line.split(), OUTPUTS[line])


@pytest.mark.parametrize("target", ["sub", "none/out", "/proc/none/out", "."])
def test_a_model_is_not_trained_for_nothing(links, target):
    links(["train", "good.csv", *ROLES, "-o", target], "Expected")


@pytest.mark.parametrize("name", ["trials.csv", "pareto.csv"])
def test_a_search_does_not_write_over_its_table(refused, tmp_path, name):
    folder = tmp_path / "w" / "search"
    folder.mkdir()
    shutil.copy(tmp_path / "w" / "good.csv", folder / name)
    refused(["tune", f"search/{name}", *ROLES, "-o", "search"], "other than the input")


@pytest.mark.parametrize(
    "contents", [b"nonsense\n", b"{}\n", b"\0\0\n", b'{"format":1,"search":"other"}\n', b"[]\n1\n"]
)
def test_a_damaged_or_foreign_file_of_trials(refused, tmp_path, contents):
    (tmp_path / "w" / "out").mkdir()
    (tmp_path / "w" / "out" / "trials.jsonl").write_bytes(contents)
    refused(["tune", "good.csv", *ROLES, "--trials", "1", "-o", "out"], "trials.jsonl")
