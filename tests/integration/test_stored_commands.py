"""Commands on folders larger than memory would be: killed, resumed, refused, the same results."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import fairsmooth
from fairsmooth.cli.main import main
from fairsmooth.persistence import file_digest

N = 3000
PROGRAM = "from fairsmooth.cli.main import run; run()"
# A pass that takes its time, so that there is one to be killed in.
SLOW = """
import time
from fairsmooth.training import journal, stochastic
keep = journal.Journal.keep
def slowly(self, question, answer):
    keep(self, question, answer)
    time.sleep(0.05)
journal.Journal.keep = slowly
from fairsmooth.cli.main import run
run()
"""
# A training that is killed in its fifth pass.
DOOMED = """
import os, signal
from fairsmooth.training.linear_pass import LinearPass
go_over, passes = LinearPass.contribution, []
def at_most_four(self, parameters):
    passes.append(0)
    if len(passes) == 5:
        os.kill(os.getpid(), signal.SIGKILL)
    return go_over(self, parameters)
LinearPass.contribution = at_most_four
from fairsmooth.cli.main import run
run()
"""
ROLES = ["--label", "hired", "--sensitive", "sex", "--id", "customer"]


@pytest.fixture(scope="module")
def table():
    random = np.random.default_rng(0)
    years = random.integers(0, 20, N)
    sex = random.choice(["f", "m"], N)
    logit = 0.3 * (years - 10) + (sex == "m")
    return pd.DataFrame(
        {
            "customer": [f"c{i:05d}" for i in range(N)],
            "sex": sex,
            "years": years,
            "score": random.normal(size=N).round(4),
            "degree": random.choice(["none", "master", "doctor"], N),
            "hired": (random.random(N) < 1 / (1 + np.exp(-logit))).astype(int),
        }
    )


@pytest.fixture(scope="module")
def folder(tmp_path_factory, table):
    folder = tmp_path_factory.mktemp("stored") / "parts"
    folder.mkdir()
    for number, rows in enumerate(np.array_split(np.arange(N), 4)):
        part = pa.Table.from_pandas(table.iloc[rows], preserve_index=False)
        pq.write_table(part, folder / f"part-{number}.parquet", row_group_size=300)
    table.to_parquet(folder.parent / "whole.parquet", index=False)
    return folder


def run(*words):
    return main([str(word) for word in words])


def train(data, model, *options):
    return run("train", data, *ROLES, "-o", model, *options)


def test_a_folder_trains_the_model_of_the_file(folder, tmp_path, capsys):
    assert train(folder, tmp_path / "stored") == 0
    told = capsys.readouterr().err
    assert "stays in its files: 3,000 rows are read in pieces" in told
    assert train(folder.parent / "whole.parquet", tmp_path / "memory") == 0
    assert (tmp_path / "stored").read_bytes() == (tmp_path / "memory").read_bytes()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["memory", "stored"]


def start(program, *words):
    source = str(Path(fairsmooth.__file__).parents[1])
    return subprocess.Popen(
        [sys.executable, "-c", program, *map(str, words)],
        env={**os.environ, "PYTHONPATH": source, "OMP_NUM_THREADS": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def kill_after(process, folder, entries):
    for _ in range(2400):
        if len(list(folder.glob("*.safetensors"))) >= entries:
            process.send_signal(signal.SIGKILL)
            process.communicate()
            return
        assert process.poll() is None, process.communicate()
        time.sleep(0.02)
    raise AssertionError("the training did not get so far")


@pytest.mark.parametrize(
    ("options", "entries"),
    [
        ((), 5),
        (("--parity", "both"), 25),
        (("--hidden", "4", "--max-iter", "12"), 4),
        (("--hidden", "4", "--max-iter", "4"), 5),
    ],
)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_a_killed_training_goes_on_and_ends_with_the_same_bytes(
    folder, tmp_path, capsys, options, entries
):
    assert train(folder, tmp_path / "expected", *options) == 0
    words = ("train", folder, *ROLES, "-o", tmp_path / "model", *options)
    kill_after(start(SLOW, *words), tmp_path / "model.checkpoint", entries)
    assert not (tmp_path / "model").exists()
    kept = len(list((tmp_path / "model.checkpoint").glob("*.safetensors")))
    capsys.readouterr()
    assert train(folder, tmp_path / "model", *options, "--resume") == 0
    assert f"has the first {kept} steps of the training." in capsys.readouterr().err
    assert kept >= entries
    assert (tmp_path / "model").read_bytes() == (tmp_path / "expected").read_bytes()
    assert not (tmp_path / "model.checkpoint").exists()


def test_a_killed_training_of_many_small_groups_is_done_again_and_says_why(tmp_path, capsys):
    draw, n = np.random.default_rng(1), 800
    table = pd.DataFrame({"years": draw.integers(0, 20, n), "degree": draw.choice(list("abc"), n)})
    table = table.assign(sex=np.arange(n) % 40, customer=np.arange(n), hired=np.arange(n) // 40 % 2)
    (tmp_path / "parts").mkdir()
    table.to_parquet(tmp_path / "parts" / "0.parquet", index=False)
    assert train(tmp_path / "parts", tmp_path / "expected") == 0
    words = ("train", tmp_path / "parts", *ROLES, "-o", tmp_path / "model")
    doomed = start(DOOMED, *words)
    doomed.communicate()
    assert doomed.returncode == -signal.SIGKILL
    assert [file.name for file in (tmp_path / "model.checkpoint").iterdir()] == ["training.json"]
    capsys.readouterr()
    assert train(tmp_path / "parts", tmp_path / "model", "--resume") == 0
    assert "or its steps take less time than keeping them" in capsys.readouterr().err
    assert (tmp_path / "model").read_bytes() == (tmp_path / "expected").read_bytes()
    assert not (tmp_path / "model.checkpoint").exists()


@pytest.fixture
def interrupted(folder, tmp_path):
    """A checkpoint that a killed training left."""
    words = ("train", folder, *ROLES, "-o", tmp_path / "model")
    kill_after(start(SLOW, *words), tmp_path / "model.checkpoint", 4)
    return tmp_path / "model.checkpoint"


def test_other_data_or_settings_are_refused(folder, interrupted, tmp_path, capsys):
    model = tmp_path / "model"
    assert train(folder, model, "--sigma", "0.7", "--resume") == 2
    assert "got one with another sigma" in capsys.readouterr().err
    assert train(folder / "part-0.parquet", model, "--resume") == 2
    assert "got one with another table" in capsys.readouterr().err
    assert interrupted.exists()
    # Damage of any kind is told, never used.
    entry = interrupted / "000001.safetensors"
    contents = entry.read_bytes()
    entry.write_bytes(contents[:-8])
    assert train(folder, model, "--resume") == 2
    assert "000001.safetensors, which cannot be read" in capsys.readouterr().err
    entry.write_bytes(contents.replace(b'"run":"', b'"run":"0'))
    assert train(folder, model, "--resume") == 2
    assert "Expected a checkpoint at" in capsys.readouterr().err
    (interrupted / "training.json").write_text("[]")
    assert train(folder, model, "--resume") == 2
    assert "training.json that cannot be read" in capsys.readouterr().err
    assert not model.exists()


def test_without_resume_a_training_begins_anew_and_says_so(folder, interrupted, tmp_path, capsys):
    assert train(folder, tmp_path / "model") == 0
    assert "needed --resume to go on" in capsys.readouterr().err
    assert not interrupted.exists()
    assert train(folder, tmp_path / "model", "--resume") == 0
    assert "No checkpoint at" in capsys.readouterr().err


def test_another_folder_in_the_place_of_the_checkpoint_is_left_alone(folder, tmp_path, capsys):
    (tmp_path / "model.checkpoint").mkdir()
    (tmp_path / "model.checkpoint" / "mine.txt").write_text("mine")
    assert train(folder, tmp_path / "model") == 2
    assert "got something else" in capsys.readouterr().err
    assert (tmp_path / "model.checkpoint" / "mine.txt").read_text() == "mine"


def test_a_guarantee_takes_no_checkpoint_and_the_whole_table(folder, tmp_path, capsys):
    asked = ("--guarantee-dp", "0.9")
    assert train(folder, tmp_path / "model", *asked, "--resume") == 2
    assert "Expected --resume for one training" in capsys.readouterr().err
    assert train(folder, tmp_path / "model", *asked) == 0
    assert "is read into memory as a whole" in capsys.readouterr().err


def test_a_full_disk_is_told_before_the_work(folder, tmp_path, capsys, monkeypatch):
    from fairsmooth.data.files import code_file

    class Usage:
        free = 10

    monkeypatch.setattr(code_file.shutil, "disk_usage", lambda path: Usage)
    assert train(folder, tmp_path / "model") == 2
    assert "0.00 MiB. Make room, or set TMPDIR" in capsys.readouterr().err


def test_other_files_in_a_folder_are_told(folder, tmp_path, capsys):
    (folder / "notes.csv").write_text("a\n1\n")
    try:
        assert train(folder, tmp_path / "model") == 0
    finally:
        (folder / "notes.csv").unlink()
    assert "1 files in parts are not Parquet" in capsys.readouterr().err
    assert len(file_digest(tmp_path / "model")) == 64


@pytest.fixture(scope="module")
def model(folder):
    assert train(folder, folder.parent / "model") == 0
    return folder.parent / "model"


def document(capsys, *words):
    assert run(*words, "--json") in (0, 1)
    import json

    return json.loads(capsys.readouterr().out)


def close(one, other):
    """Compare documents: numbers to rounding, the rest exactly."""
    if isinstance(one, dict):
        assert one.keys() == other.keys()
        for name in one.keys() - {"seconds"}:
            close(one[name], other[name])
    elif isinstance(one, list):
        assert len(one) == len(other)
        for mine, theirs in zip(one, other, strict=True):
            close(mine, theirs)
    elif isinstance(one, float):
        assert one == pytest.approx(other, rel=1e-9, abs=1e-12)
    else:
        assert one == other


def test_audit_and_guarantee_of_a_folder_are_those_of_the_file(folder, model, tmp_path, capsys):
    new = tmp_path / "new"
    new.mkdir()
    whole = pd.read_parquet(folder.parent / "whole.parquet").iloc[::-1].assign(extra=1)
    whole["customer"] = "n" + whole["customer"]
    whole.loc[whole.index[5], "sex"] = None
    whole.loc[whole.index[7], "hired"] = None
    whole.loc[whole.index[9], "degree"] = "baker"
    for number, rows in enumerate(np.array_split(np.arange(N), 3)):
        whole.iloc[rows].to_parquet(new / f"{number}.parquet", index=False)
    whole.to_parquet(tmp_path / "new.parquet", index=False)
    one = document(capsys, "audit", model, new)
    close(one, document(capsys, "audit", model, tmp_path / "new.parquet"))
    assert one["n_rows"] == N - 3
    asked = ("--max-dp", "0.5", "--unknown", "ignore")
    one = document(capsys, "guarantee", model, new, *asked)
    close(one, document(capsys, "guarantee", model, tmp_path / "new.parquet", *asked))
    column = ("--scores", "years", "--threshold", "9", "--sensitive", "degree", "--max-dp", "0.5")
    one = document(capsys, "guarantee", new, *column)
    close(one, document(capsys, "guarantee", tmp_path / "new.parquet", *column))
    # Rows that were trained on are refused, by the digest of the table and by ids.
    assert run("guarantee", model, folder, "--max-dp", "0.5") == 2
    assert "the table that it was trained from" in capsys.readouterr().err
    assert run("guarantee", model, folder / "part-0.parquet", "--max-dp", "0.5") == 2
    assert "was among the training rows" in capsys.readouterr().err


def refused(capsys, message, *words):
    assert run(*words) == 2
    said = capsys.readouterr().err
    assert message in said
    assert "Traceback" not in said


def test_lists_are_refused_unless_dropped(table, tmp_path, capsys):
    (tmp_path / "t").mkdir()
    for name, values in (("lists", [1, 2]), ("struct", {"a": 1})):
        table.assign(tags=[values] * N).to_parquet(tmp_path / "t" / "a.parquet", index=False)
        message = "Expected numbers, text, dates or true/false in column 'tags', got lists"
        refused(capsys, message, "train", tmp_path / "t", *ROLES, "-o", tmp_path / name)
        assert train(tmp_path / "t", tmp_path / name, "--drop", "tags") == 0
        capsys.readouterr()


@pytest.mark.parametrize("lost", ["years", "sex"])
def test_a_column_that_a_folder_lacks_is_named(lost, folder, table, model, tmp_path, capsys):
    (tmp_path / "t").mkdir()
    new = table.assign(customer="n" + table["customer"]).drop(columns=lost)
    new.to_parquet(tmp_path / "t" / "a.parquet", index=False)
    hint = {"years": "It has ['customer', 'sex', ", "sex": "Did you mean 'score'?"}[lost]
    message = f"Expected a column named '{lost}' in the table, found none. {hint}"
    refused(capsys, message, "audit", model, tmp_path / "t")
    refused(capsys, message, "guarantee", model, tmp_path / "t", "--max-dp", "0.5")
