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


def call(tree, *arguments):
    """Run a command of the copied package; what it prints is returned."""
    program = "from fairsmooth.cli.main import run; run()"
    done = subprocess.run(
        [sys.executable, "-c", program, *map(str, arguments)],
        env={**os.environ, "PYTHONPATH": str(tree), "OMP_NUM_THREADS": "1", "COLUMNS": "200"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_both_are_listed(tree):
    assert "Strong penalty" in call(tree, "list", "methods")
    assert "800 loans." in call(tree, "list", "datasets")


def test_both_take_part_in_the_papers_tables(tree, tmp_path):
    words = ["table1", "--profile", "smoke", "--jobs", 2, "--out", tmp_path, "--json"]
    words += ["--methods", "strong_penalty", "--methods", "fairsmooth", "--only", "loans"]
    summary = json.loads(call(tree, "reproduce", *words))
    assert (summary["jobs"], summary["failed"]) == (2, 0)
    rows = pd.read_parquet(tmp_path / "rows.parquet")
    assert set(rows["case"]) == {"loans-branch"}
    assert set(rows["encoding"]) == {"binned"}
    assert set(rows["method"]) == {"strong_penalty", "fairsmooth"}
    page = (tmp_path / "index.md").read_text()
    assert "### Loans, branch" in page
    assert "| Strong penalty |" in page


def test_a_method_from_outside_needs_no_place_in_the_package(tmp_path):
    example = Path(__file__).parents[2] / "examples" / "03_add_a_baseline.py"
    words = ["table1", "--profile", "smoke", "--jobs", 2, "--out", tmp_path, "--json"]
    words += ["--method", f"{example}:ReweighedClassifier", "--methods", "unconstrained"]
    source = Path(fairsmooth.__file__).parents[1]
    summary = json.loads(call(source, "reproduce", *words, "--only", "compas"))
    assert (summary["jobs"], summary["failed"]) == (4, 0)
    rows = pd.read_parquet(tmp_path / "rows.parquet")
    named = set(rows["method"].str.partition("@")[0])
    assert named == {"ReweighedClassifier", "unconstrained"}
    assert "| ReweighedClassifier |" in (tmp_path / "index.md").read_text()
