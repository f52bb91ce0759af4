"""``verify`` and ``tune`` as users run them."""

import json

import numpy as np
import pandas as pd
import pytest

from fairsmooth.cli.main import main
from fairsmooth.persistence import load
from fairsmooth.tuning import ParetoFront

# A few iterations make a model that can be saved; it need not be at the minimum.
pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

ROLES = ["--label", "label", "--sensitive", "group"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("checks")
    random = np.random.default_rng(0)
    n = 600
    group = random.choice(["a", "b", "c"], n)
    age = random.integers(20, 60, n)
    label = (age + 8 * (group == "b") + random.normal(0, 12, n) > 42).astype(int)
    job = random.choice(["clerk", "nurse"], n)
    table = pd.DataFrame({"age": age, "job": job, "group": group, "label": label})
    table.to_csv(folder / "data.csv", index=False)
    for name, hidden in (("linear", ""), ("hidden", "4")):
        arguments = ["train", str(folder / "data.csv"), *ROLES, "--hidden", hidden]
        assert main([*arguments, "--max-iter", "10", "-o", str(folder / name)]) == 0
    return folder


def run(capsys, *arguments):
    code = main([str(argument) for argument in arguments])
    captured = capsys.readouterr()
    return code, captured.out, captured.err


@pytest.mark.parametrize("name", ["linear", "hidden"])
def test_an_honest_model_is_verified_and_withstands_the_attack(folder, capsys, name):
    code, out, _ = run(capsys, "verify", folder / name, "--attack", "2", "--json")
    document = json.loads(out)
    assert code == 0
    assert document["holds"]
    assert all(check["holds"] for check in document["checks"])
    certificate = load(folder / name).certificate_
    assert {found["where"] for found in document["attack"]} == {"unbounded", "box"}
    for found in document["attack"]:
        assert 0.0 < found["gap"] <= certificate.epsilon_by_group[found["group"]]


def test_verify_prints_one_line_per_check(folder, capsys):
    code, out, _ = run(capsys, "verify", folder / "linear")
    lines = out.strip().splitlines()
    assert code == 0
    assert lines[-1] == "The certificate holds."
    assert all(line.startswith(("ok ", "not checked ")) for line in lines[:-1])
    assert any("which value is positive (1 in column 'label')" in line for line in lines)


def test_an_altered_model_is_refused_with_exit_code_1(folder, capsys, tmp_path):
    contents = bytearray((folder / "linear").read_bytes())
    contents[-1] ^= 1
    (tmp_path / "altered").write_bytes(contents)
    code, out, err = run(capsys, "verify", tmp_path / "altered", "--attack", "1")
    assert code == 1
    assert "FAILS" in out
    assert "The certificate does NOT hold." in out
    assert "Traceback" not in err


def test_a_file_that_is_no_model_is_a_mistake_not_a_failure(folder, capsys):
    code, out, err = run(capsys, "verify", folder / "data.csv")
    assert code == 2
    assert out == ""
    assert "Expected a model file, got" in err
    assert "does NOT hold" not in err


def test_verify_refuses_bad_arguments(folder, capsys, tmp_path):
    code, _, err = run(capsys, "verify", tmp_path / "none")
    assert code == 2
    assert "found none at" in err
    code, _, err = run(capsys, "verify", folder / "linear", "--attack", "-1")
    assert code == 2
    assert "Expected --attack >= 0" in err


def test_tune_writes_trials_plot_and_model(folder, capsys, tmp_path):
    arguments = ["tune", folder / "data.csv", *ROLES, "--max-epsilon", "0.2", "--trials", "4"]
    code, out, _ = run(capsys, *arguments, "-o", tmp_path / "tuned", "--json")
    document = json.loads(out)
    assert code == 0
    assert document["trials"] <= 4
    assert document["feasible"] == (document["held_out"]["epsilon"] <= 0.2)
    names = {path.name for path in (tmp_path / "tuned").iterdir()}
    assert names >= {
        "trials.csv", "pareto.csv", "pareto.png", "model.safetensors", "front.json", "report.html",
        "alternatives.json", "alternatives.md",
    }  # fmt: skip
    front = ParetoFront.from_dict(json.loads((tmp_path / "tuned" / "front.json").read_text()))
    assert front.chosen.measured == document["held_out"]
    alternatives = json.loads((tmp_path / "tuned" / "alternatives.json").read_text())
    assert [trial["trial"] for trial in alternatives["trials"]] == [0, 1, 2, 3]
    assert alternatives["why"] == document["why"]
    assert "What was tried" in (tmp_path / "tuned" / "alternatives.md").read_text()
    trials = pd.read_csv(tmp_path / "tuned" / "trials.csv")
    assert trials["chosen"].sum() == 1
    assert run(capsys, "verify", tmp_path / "tuned" / "model.safetensors")[0] == 0


def test_tune_prints_the_front_and_says_why(folder, capsys, tmp_path):
    arguments = ["tune", folder / "data.csv", *ROLES, "--trials", "2", "--folds", "2"]
    code, out, err = run(capsys, *arguments, "-o", tmp_path / "tuned")
    assert code == 0
    assert "trial 0" in out
    assert "for its accuracy alone" in out
    # Who reads the page alone must learn whether a limit was kept, too.
    assert "for its accuracy alone" in (tmp_path / "tuned" / "report.html").read_text()
    assert "although it was picked of 2" in out
    assert "record of alternatives" in err.replace("\n", " ")
