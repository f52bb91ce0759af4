"""A new file in ``baselines`` or ``datasets`` works in every command at once.

The package is copied, so that a file can be put into it as a contributor would.
"""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

import fairsmooth
from fairsmooth.cli.main import main

METHOD = '''"""Decides by a coin, weighted as the training labels are."""

from sklearn.linear_model import LogisticRegression

from fairsmooth.baselines._base import Method, vary
from fairsmooth.classifier import GroupClassifier


class StrongPenaltyClassifier(GroupClassifier):
    def __init__(self, *, C=0.1, random_state=None):
        self.C = C
        self.random_state = random_state

    def _fit(self, X, y, groups):
        self.model_ = LogisticRegression(C=self.C).fit(X, y)

    def _scores(self, X):
        return self.model_.predict_proba(X)[:, 1]


METHODS = (
    Method(
        name="strong_penalty",
        label="Strong penalty",
        estimator=StrongPenaltyClassifier,
        reference="this test",
        optimises="accuracy with small weights",
        grid=vary("C", 0.1, 0.2, 0.3, 0.4, 0.5, 0.6),
    ),
)
'''
DATASET = '''"""Loans of a bank that does not exist."""

import pandas as pd

from fairsmooth.datasets._base import FairDataset
from fairsmooth.datasets._entry import DatasetEntry
from fairsmooth.datasets.synthetic import make_biased


def load_loans(encoding="raw", sensitive="branch"):
    data = make_biased(800, 3, n_groups=2)
    table = data.X.assign(purpose=["car", "house"] * 400)
    return FairDataset(
        X=table,
        y=data.y,
        sensitive_features=data.sensitive_features.rename("branch"),
        name="loans",
        description="800 loans.",
        label="was paid back",
    )


DATASETS = (
    DatasetEntry(
        name="loans",
        title="Loans",
        loader=load_loans,
        sensitive=("branch",),
        encodings=("raw",),
        description="800 loans.",
        label="was paid back",
        label_column="paid_back",
        reference="this test",
    ),
)
'''


@pytest.fixture(scope="module")
def tree(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tree")
    shutil.copytree(
        Path(fairsmooth.__file__).parent,
        folder / "fairsmooth",
        ignore=shutil.ignore_patterns("__pycache__"),
    )
    (folder / "fairsmooth" / "baselines" / "strong_penalty.py").write_text(METHOD)
    (folder / "fairsmooth" / "datasets" / "loans.py").write_text(DATASET)
    return folder


# One process for all commands: most of a command's time is the import of torch.
PROGRAM = """
import contextlib, io, json, sys
from fairsmooth.cli.main import main
printed = {}
for name, words in json.loads(sys.argv[1]).items():
    with contextlib.redirect_stdout(io.StringIO()) as out:
        code = main(words)
    printed[name] = [code, out.getvalue()]
print(json.dumps(printed))
"""


@pytest.fixture(scope="module")
def commands(tree, tmp_path_factory):
    """Run commands of the copied package; return what they print, and where they write."""
    folder = tmp_path_factory.mktemp("out")
    table1 = ["reproduce", "table1", "--profile", "smoke", "--only", "loans", "--json"]
    some = ["--methods", "strong_penalty", "--methods", "fairsmooth", "--jobs", "1"]
    words = {
        "methods": ["list", "methods"],
        "datasets": ["list", "datasets"],
        "demo": ["demo", "--dataset", "loans", "--out", str(folder / "demo"), "--json"],
        "table1": [*table1, *some, "--out", str(folder / "table1")],
    }
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, json.dumps(words)],
        env={**os.environ, "PYTHONPATH": str(tree), "OMP_NUM_THREADS": "1", "COLUMNS": "200"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    printed = json.loads(done.stdout)
    assert {name: code for name, (code, _) in printed.items()} == dict.fromkeys(words, 0)
    return {name: text for name, (_, text) in printed.items()}, folder


def test_both_are_listed(commands):
    assert "Strong penalty" in commands[0]["methods"]
    assert "800 loans." in commands[0]["datasets"]


def test_the_demo_takes_the_dataset(commands):
    printed, folder = commands
    known = json.loads(printed["demo"])["provenance"]
    assert (known["label"], known["sensitive"]) == ("paid_back", ["branch"])
    assert known["rows"] + known["held_out"] == 800
    page = (folder / "demo" / "report.html").read_text()
    assert "Loans, groups by branch" in page
    assert "paid_back" in pd.read_csv(folder / "demo" / "test.csv")


def test_both_take_part_in_the_papers_tables(commands):
    summary, folder = json.loads(commands[0]["table1"]), commands[1] / "table1"
    assert (summary["jobs"], summary["failed"]) == (2, 0)
    rows = pd.read_parquet(folder / "rows.parquet")
    assert set(rows["case"]) == {"loans-branch"}
    assert set(rows["encoding"]) == {"binned"}
    assert set(rows["method"]) == {"strong_penalty", "fairsmooth"}
    page = (folder / "index.md").read_text()
    assert "### Table 1: Loans by branch, tuned" in page
    assert "| Strong penalty |" in page


def test_a_method_from_outside_needs_no_place_in_the_package(tmp_path, capsys):
    example = Path(__file__).parents[2] / "examples" / "08_add_a_method.py"
    words = ["table1", "--profile", "smoke", "--jobs", "1", "--out", str(tmp_path), "--json"]
    words += ["--method", f"{example}:ReweighedClassifier", "--methods", "unconstrained"]
    assert main(["reproduce", *words, "--only", "compas"]) == 0
    summary = json.loads(capsys.readouterr().out)
    assert (summary["jobs"], summary["failed"]) == (4, 0)
    rows = pd.read_parquet(tmp_path / "rows.parquet")
    named = set(rows["method"].str.partition("@")[0])
    assert named == {"ReweighedClassifier", "unconstrained"}
    assert "| ReweighedClassifier |" in (tmp_path / "index.md").read_text()
