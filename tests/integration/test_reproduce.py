"""The command, its resumption after a kill, and its page."""

import json
import os
import re
import signal
import subprocess
import sys
import time

import pandas as pd
import pytest
import typer
from typer.testing import CliRunner

from fairsmooth.cli import reproduce
from fairsmooth.experiments import experiments

APP = typer.Typer()
APP.command()(reproduce.command)
SOME = [
    "table1", "table2", "figure4", "ceilings", "draws", "--profile", "smoke", "--only", "compas",
    "--methods", "fairsmooth", "--methods", "fairsmooth_s", "--methods", "unconstrained",
    "--methods", "group_fair",
]  # fmt: skip
# Times, and what is derived from them.
TIMES = {"seconds", "cpu_seconds", "slowdown", "exact_seconds"}


def invoke(*arguments):
    outcome = CliRunner().invoke(APP, [*map(str, arguments)], catch_exceptions=False)
    assert outcome.exit_code == 0, outcome.output
    return outcome


def records_of(folder):
    lines = (folder / "records.jsonl").read_text().splitlines()
    return {record["key"]: without_times(record) for record in map(json.loads, lines)}


def without_times(value):
    if isinstance(value, dict):
        return {name: without_times(each) for name, each in value.items() if name not in TIMES}
    return [without_times(each) for each in value] if isinstance(value, list) else value


@pytest.fixture(scope="module")
def uninterrupted(tmp_path_factory):
    folder = tmp_path_factory.mktemp("whole")
    return folder, invoke(*SOME, "--jobs", 1, "--out", folder, "--json")


def test_killed_in_the_middle_it_ends_with_the_same_records(uninterrupted, tmp_path):
    whole = records_of(uninterrupted[0])
    process = subprocess.Popen(
        [sys.executable, "-c", "import typer; from fairsmooth.cli import reproduce; "
         "typer.run(reproduce.command)", *SOME, "--jobs", "2", "--out", str(tmp_path)],
        env={**os.environ, "OMP_NUM_THREADS": "1"},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )  # fmt: skip
    path, deadline = tmp_path / "records.jsonl", time.monotonic() + 120
    while process.poll() is None and time.monotonic() < deadline:
        if path.exists() and path.read_bytes().count(b"\n") >= 3:
            break
        time.sleep(0.01)
    # Its workers with it, or they would outlive the test.
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    survived = path.read_bytes()
    kept = survived[: survived.rfind(b"\n") + 1]
    assert 3 <= kept.count(b"\n") < len(whole)
    # Death within a write leaves half a line.
    path.write_bytes(kept + b'{"key": "half')
    invoke(*SOME, "--jobs", 1, "--out", tmp_path)
    assert records_of(tmp_path) == whole
    lines = path.read_bytes()
    assert lines.startswith(kept)
    assert lines.count(b"\n") == len(whole)
    # Volatile columns aside, the flat rows agree as well.
    first, second = (
        pd.read_parquet(folder / "rows.parquet").drop(
            columns=["seconds", "draw_seconds", "slowdown"]
        )
        for folder in (uninterrupted[0], tmp_path)
    )
    pd.testing.assert_frame_equal(first, second)


def test_json_is_one_document(uninterrupted):
    summary = json.loads(uninterrupted[1].stdout)
    assert summary["finished"] == summary["jobs"] > 0
    assert summary["failed"] == 0
    assert len(summary["slowest"]) == 5
    measured = {"aif360", "binned"}
    published = {f"{encoding}, published" for encoding in measured}
    assert set(summary["claims"]) == {"printed", *measured, *published}


def test_page_is_one_file_without_scripts(uninterrupted):
    page = (uninterrupted[0] / "index.html").read_text()
    assert "<script" not in page
    # Names of XML vocabularies are not fetched; nothing else may point elsewhere.
    linked = set(re.findall(r'(?:src|href)="(?!#)([^"]+)"', page))
    assert not {link for link in linked if link.startswith(("http", "/"))}
    for name in ("Table 1", "Table 2", "Figure 4", "ceilings", "draws"):
        assert name in page
    assert page.count("<svg") >= 3
    assert "cannot be told" in page
    assert "smoke run" in page


def test_markdown_says_the_same_and_its_figures_exist(uninterrupted):
    folder = uninterrupted[0]
    text = (folder / "index.md").read_text()
    figures = re.findall(r"\((figures/[^)]+)\)", text)
    assert figures
    assert all((folder / figure).exists() for figure in figures)
    assert re.search(r"\| FairSmooth \| \*\*0\.67( ≠| ≈)?\*\* \| 0\.\d+ \| 0\.\d+ \|", text)
    for experiment in experiments():
        if experiment.name in SOME:
            assert all(claim.name in text for claim in experiment.claims)


def test_a_wrong_name_is_refused(tmp_path):
    with pytest.raises(ValueError, match="Expected experiment to be one of 'table1'"):
        invoke("table9", "--out", tmp_path)


def test_the_smoke_profile_runs_everything(tmp_path):
    # Every method on the smaller dataset; what the paper shows on Adult alone, with one.
    smoke = ["--profile", "smoke", "--jobs", 1, "--json", "--out"]
    parts = {
        "compas": ["all", "--only", "compas"],
        "adult": ["figure1", "figure3", "--methods", "fairsmooth"],
    }
    found = set()
    for name, words in parts.items():
        summary = json.loads(invoke(*words, *smoke, tmp_path / name).stdout)
        assert summary["failed"] == 0
        rows = pd.read_parquet(tmp_path / name / "rows.parquet")
        assert (rows["status"] == "done").all()
        found |= set(rows["experiment"])
    # All that the paper has; what goes beyond it runs when it is named.
    assert found == {experiment.name for experiment in experiments() if experiment.paper}
