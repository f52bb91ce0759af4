"""Ranks as real processes on loopback: equal to one process, and gone together."""

import json
import os
import signal
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import typer
from tests.integration import forked_ranks

import fairsmooth
from fairsmooth.cli import ranked
from fairsmooth.cli.main import Stopped, main
from fairsmooth.tables import TableModel

pytestmark = pytest.mark.numbers
ROLES = ["--label", "hired", "--sensitive", "group"]
SOURCE = str(Path(fairsmooth.__file__).parents[1])


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Write one table, whole and by group."""
    folder, draw, n = tmp_path_factory.mktemp("ranks"), np.random.default_rng(0), 600
    group = draw.choice(["a", "b", "c"], n, p=[0.5, 0.3, 0.2])
    table = pd.DataFrame({"age": draw.integers(18, 70, n), "pay": draw.lognormal(3, 1, n)})
    table["gain"] = np.where(draw.random(n) < 0.7, 0.0, draw.exponential(9, n))
    table["job"] = draw.choice(["clerk", "cook", None], n, p=[0.6, 0.35, 0.05])
    logit = 0.05 * (table["age"] - 40) + 0.5 * (table["job"] == "cook") - 0.4 * (group == "b")
    hired = np.where(logit + draw.logistic(size=n) > 0, "yes", "no")
    table = table.assign(group=group, hired=hired).sort_values("group", kind="stable")
    table.to_parquet(folder / "all.parquet", index=False, row_group_size=100)
    table.to_csv(folder / "all.csv", index=False)
    for rank, (_, rows) in enumerate(table.groupby("group")):
        rows.to_parquet(folder / f"site{rank}.parquet", index=False)
    return folder


@pytest.fixture(scope="module")
def alone(folder):
    return TableModel.fit(folder / "all.parquet", label="hired", sensitive="group", random_state=0)


def torchrun(size, *words):
    """Run a command by as many ranks, as a user does."""
    return subprocess.run(
        [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node",
         str(size), "-m", "fairsmooth", "train", *map(str, words)],
        env={**os.environ, "PYTHONPATH": SOURCE, "OMP_NUM_THREADS": "1"},
        capture_output=True, text=True, timeout=180, check=False,
    )  # fmt: skip


def forked(folder, size, *words):
    """Run a command by forked ranks; return what rank 0 printed and said."""
    folder.mkdir()
    assert (
        forked_ranks.start(folder, size, forked_ranks.free_port(), "train", *words).wait(180) == 0
    )
    said = [(folder / f"err{rank}").read_text() for rank in range(size)]
    codes = [(folder / f"code{rank}").read_text() for rank in range(size)]
    assert codes == ["0"] * size, said
    assert "".join(said[1:]) == ""  # rank 0 alone speaks
    return (folder / "out0").read_text(), said[0]


def assert_equal(found, expected, *, tolerance=1e-9):
    mine, theirs = found.classifier, expected.classifier
    assert found.encoder.to_dict() == expected.encoder.to_dict()
    for name in ("group_parameters_", "free_group_parameters_", "parameters_"):
        assert np.abs(getattr(mine, name) - getattr(theirs, name)).max() <= tolerance
    assert found.certificate.epsilon_tight == pytest.approx(expected.certificate.epsilon_tight)


def assert_same_audit(printed, alone, measures):
    summary, expected = json.loads(printed), alone.measured.summary()
    for measure in measures:
        assert summary[measure] == pytest.approx(expected[measure], abs=1e-9)
    assert summary["provenance"]["rows"] == alone.provenance.rows
    return summary


RATES = ("accuracy", "demographic_parity", "equalized_odds_max", "impact_ratio")


def test_two_ranks_of_torchrun_give_the_model_of_one_process(folder, alone, tmp_path):
    output = tmp_path / "model.safetensors"
    done = torchrun(2, folder / "all.parquet", *ROLES, "-o", output, "--json")
    assert done.returncode == 0, done.stderr
    assert_equal(TableModel.load(output), alone)
    assert_same_audit(done.stdout, alone, (*RATES, "measured_gap", "tying_cost"))
    assert "Note: Trained by 2 ranks." in done.stderr


def test_three_ranks_give_the_model_of_one_process(folder, alone, tmp_path):
    output = tmp_path / "model.safetensors"
    printed, _ = forked(tmp_path / "run", 3, folder / "all.csv", *ROLES, "-o", output, "--json")
    assert_equal(TableModel.load(output), alone)
    assert_same_audit(printed, alone, (*RATES, "measured_gap", "tying_cost"))


def test_many_small_groups_that_ranks_lack_are_trained_as_by_one_process(tmp_path):
    # Sorted by group: a rank lacks most groups, and groups that are done are gone over no more.
    draw, n = np.random.default_rng(2), 1200
    group = np.sort(draw.integers(0, 30, n))
    table = pd.DataFrame({"job": draw.choice(["clerk", "cook", "smith"], n), "group": group})
    logit = np.where(group % 5 == 0, 4.0, 0.5) * (table["job"] == "cook")
    hired = np.where(logit + draw.logistic(size=n) > 0, "yes", "no")
    data, output = tmp_path / "small.parquet", tmp_path / "model.safetensors"
    table.assign(hired=hired, years=draw.choice(["few", "many"], n)).to_parquet(data, index=False)
    alone = TableModel.fit(data, label="hired", sensitive="group", random_state=0)
    forked(tmp_path / "run", 3, data, *ROLES, "-o", output)
    assert_equal(TableModel.load(output), alone)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_minibatches_of_two_ranks_are_those_of_one_process(folder, tmp_path):
    # A hidden layer is trained by Adam; both draw the same batches and the same noise.
    words = [*ROLES, "--hidden", "3", "--max-iter", "3", "-o"]
    assert main(["train", str(folder / "all.parquet"), *words, str(tmp_path / "one")]) == 0
    forked(tmp_path / "run", 2, folder / "all.parquet", *words, tmp_path / "two")
    one, two = TableModel.load(tmp_path / "one"), TableModel.load(tmp_path / "two")
    assert tuple(one.classifier.hidden_layer_sizes) == (3,)
    assert two.encoder.to_dict() == one.encoder.to_dict()
    for name in ("group_parameters_", "free_group_parameters_"):
        differ = np.abs(getattr(two.classifier, name) - getattr(one.classifier, name))
        # Adam divides by the size of a gradient: of a level that hardly a row has, where it is
        # rounding alone, steps of about its epsilon's share differ.
        assert (differ <= 1e-6).mean() >= 0.95
        assert differ.max() <= 5e-5


def test_groups_that_stay_apart_give_the_model_of_pooled_rows(folder, alone, tmp_path):
    own, output = folder / "site{rank}.parquet", tmp_path / "m{rank}.safetensors"
    printed, said = forked(tmp_path / "run", 3, own, "--apart", *ROLES, "-o", output, "--json")
    written = [(tmp_path / f"m{rank}.safetensors").read_bytes() for rank in range(3)]
    assert written[0] == written[1] == written[2]
    assert_equal(TableModel.load(tmp_path / "m0.safetensors"), alone)
    summary = assert_same_audit(printed, alone, RATES)
    assert summary["measured_gap"] is None  # scores stay where they are
    assert "The audit is one of counts" in said


def test_a_killed_rank_ends_the_others_with_one_line(folder, tmp_path):
    run, output = tmp_path / "run", tmp_path / "out" / "model.safetensors"
    run.mkdir()
    output.parent.mkdir()
    endless = ["--hidden", "8", "--max-iter", "1000000"]
    words = ["train", folder / "all.parquet", *ROLES, "-o", output, *endless]
    started = forked_ranks.start(run, 3, forked_ranks.free_port(), *words)
    forked_ranks.wait_for(run / "going", started)
    forked_ranks.wait_for(run / "pids", started)
    pids = [int(pid) for pid in (run / "pids").read_text().split()]
    try:
        os.kill(pids[1], signal.SIGKILL)
        assert started.wait(30) == 0
    finally:
        if started.poll() is None:
            for pid in pids:
                os.kill(pid, signal.SIGKILL)
    assert not (run / "code1").exists()
    for rank in (0, 2):
        said = (run / f"err{rank}").read_text()
        assert (run / f"code{rank}").read_text() == "2"
        assert len(said.strip().splitlines()) == 1, said
        assert f"got one that ended or cannot be reached; rank {rank} ends too" in said
    assert list(output.parent.iterdir()) == []


def test_a_rank_that_is_asked_to_end_says_why(monkeypatch, capsys):
    @contextmanager
    def asked():
        raise Stopped(signal.SIGTERM)
        yield

    monkeypatch.setattr(ranked, "joined", asked)
    with pytest.raises(typer.Exit) as end, ranked.one_voice():
        pass
    assert end.value.exit_code == 128 + signal.SIGTERM
    assert "Stopped with the other ranks" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (["--parity", "both"], "got --parity or --parity-limits"),
        (["--guarantee-dp", "0.1"], "got --guarantee-dp, --guarantee-eo or --min-ratio"),
        (["--columns", "forecasts"], "got --columns forecasts"),
        (["--threshold", "accuracy"], "got --threshold accuracy"),
    ],
)
def test_what_ranks_cannot_serve_is_refused_in_one_line(
    folder, tmp_path, capsys, monkeypatch, words, line
):
    place = {"RANK": "0", "WORLD_SIZE": "2", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": "1"}
    for name, value in place.items():
        monkeypatch.setenv(name, value)
    arguments = ["train", folder / "all.csv", *ROLES, "-o", tmp_path / "m.safetensors", *words]
    assert main([str(word) for word in arguments]) == 2
    said = capsys.readouterr().err
    assert line in said
    assert len(said.strip().splitlines()) == 1


@pytest.mark.parametrize("option", [["--apart"], ["--encoder", "x.json"]])
def test_options_of_ranks_need_ranks(folder, tmp_path, capsys, option):
    arguments = ["train", folder / "all.csv", *ROLES, "-o", tmp_path / "m.safetensors", *option]
    assert main([str(word) for word in arguments]) == 2
    assert f"Expected several ranks with {option[0]}, got one." in capsys.readouterr().err
