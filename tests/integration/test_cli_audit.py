"""``audit`` of any system, of tables without labels, against limits and a standard."""

import csv
import json
import re

import numpy as np
import pandas as pd
import pytest

from fairsmooth.cli.main import main

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

KEYS = {
    *("accuracy", "demographic_parity", "equalized_odds_sum", "equalized_odds_max"),
    *("epsilon", "epsilon_tight", "max_distance", "measured_gap", "tying_cost", "seconds"),
    "groups",
}
N = 400


@pytest.fixture(scope="module")
def table():
    random = np.random.default_rng(0)
    sex, race = random.choice(["f", "m"], N), random.choice(["x", "y"], N)
    years = random.integers(0, 20, N)
    score = 1.0 / (1.0 + np.exp(-0.3 * (years - 9) - 0.9 * (sex == "m")))
    hired = np.where(random.random(N) < score, "yes", "no")
    race = pd.Series(race, dtype=object).where(np.arange(N) > 2, None)
    return pd.DataFrame(
        {"sex": sex, "race": race, "years": years, "score": score.round(4),
         "chosen": (score.round(4) > 0.5).astype(int), "hired": hired}
    )  # fmt: skip


@pytest.fixture(scope="module")
def folder(tmp_path_factory, table):
    folder = tmp_path_factory.mktemp("audit")
    table.to_csv(folder / "data.csv", index=False)
    table.drop(columns="hired").to_csv(folder / "unlabelled.csv", index=False)
    words = ["train", folder / "data.csv", "--label", "hired", "--sensitive", "sex",
             "--drop", "score", "--drop", "chosen", "--drop", "race", "--max-iter", "20",
             "-o", folder / "model"]  # fmt: skip
    assert main([str(word) for word in words]) == 0
    return folder


@pytest.fixture
def run(capsys, folder, monkeypatch):
    monkeypatch.chdir(folder)

    def run(line):
        code = main(line.split())
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return run


SYSTEM = "audit data.csv --scores score --label hired --sensitive sex"


def test_a_column_of_scores_is_audited_like_a_model(run, table):
    code, out, _ = run(f"{SYSTEM} --json")
    document = json.loads(out)
    assert code == 0
    assert set(document) >= KEYS
    right = (table["score"] > 0.5) == (table["hired"] == "yes")
    assert document["accuracy"] == pytest.approx(right.mean())
    rates = table.assign(d=table["score"] > 0.5).groupby("sex")["d"].mean()
    assert document["demographic_parity"] == pytest.approx(rates.max() - rates.min())
    assert document["impact_ratio"] == pytest.approx(rates.min() / rates.max())
    assert document["four_fifths"] == "broken"
    assert document["epsilon"] is None
    assert document["threshold"] == 0.5
    assert document["provenance"]["scores"] == "score"
    assert [group["group"] for group in document["groups"]] == ["f", "m"]
    assert {"auc", "calibration", "base_rate", "precision"} <= set(document["groups"][0])


def test_decisions_and_a_threshold(run):
    _, decided, _ = run("audit data.csv --scores chosen --label hired --sensitive sex --json")
    _, scored, _ = run(f"{SYSTEM} --json")
    one, other = json.loads(decided), json.loads(scored)
    assert one["accuracy"] == other["accuracy"]
    assert one["threshold"] is None
    assert "auc" not in one["groups"][0]
    _, moved, _ = run(f"{SYSTEM} --threshold 0.8 --json")
    assert json.loads(moved)["groups"][0]["selection_rate"] < one["groups"][0]["selection_rate"]


def test_without_labels_what_needs_none_is_measured(run):
    code, out, err = run("audit unlabelled.csv --scores chosen --sensitive sex")
    assert code == 0
    assert "There are no labels" in err
    assert "impact ratio" in out
    assert "accuracy" not in out


def test_a_model_on_a_table_without_its_label_column(run, folder, table):
    code, out, err = run("audit model unlabelled.csv --report page.html --json")
    document = json.loads(out)
    assert code == 0
    assert "The table has no labels in 'hired'" in err
    assert document["accuracy"] is None
    assert document["equalized_odds_sum"] is None
    assert document["shift"] is None
    assert document["measured_gap"] <= document["epsilon_tight"]
    _, out, _ = run("audit model data.csv --json")
    assert json.loads(out)["demographic_parity"] == document["demographic_parity"]
    assert "no labels" in (folder / "page.html").read_text()
    table.assign(hired="").to_csv(folder / "empty.csv", index=False)
    code, out, _ = run("audit model empty.csv --json")
    assert code == 0
    assert json.loads(out)["demographic_parity"] == document["demographic_parity"]


@pytest.mark.parametrize("rows", ["model data.csv", "data.csv --scores score --sensitive sex"])
def test_limits_are_a_gate_on_what_was_measured(run, rows):
    code, out, err = run(f"audit {rows} --max-dp 0.001 --min-ratio 0.999 --json")
    assert code == 1
    broken = [line for line in err.splitlines() if line.startswith("--")]
    assert len(broken) == 2
    assert all("Measured on these rows; not a guarantee." in line for line in broken)
    limits = json.loads(out)["limits"]
    assert [(one["name"], one["holds"]) for one in limits] == [
        ("demographic_parity", False),
        ("impact_ratio", False),
    ]
    code, _, err = run(f"audit {rows} --max-dp 1 --min-ratio 0")
    assert code == 0
    assert "That is no guarantee" in err


def test_the_page_tells_of_the_limits(run, folder):
    run(f"{SYSTEM} --max-dp 0.001 --report limits.html")
    assert "--max-dp 0.001: demographic parity is" in (folder / "limits.html").read_text()
    run(f"{SYSTEM} --max-dp 1 --report limits.html")
    assert "Every limit is kept by what was measured" in (folder / "limits.html").read_text()


def test_the_command_on_a_page_makes_the_page_again(run, folder, monkeypatch):
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "0")
    run(f"{SYSTEM} --threshold 0.4 --report first.html")
    page = (folder / "first.html").read_text()
    (line,) = re.findall("<pre>fairsmooth (audit .*)</pre>", page)
    assert run(line)[0] == 0
    assert (folder / "again.html").read_text() == page


def test_a_page_without_a_guarantee_voids_none(run, folder):
    run(f"{SYSTEM} --report none.html")
    page = (folder / "none.html").read_text()
    assert "voids the guarantee" not in page
    assert "chosen by the rows that judge it" in page


def test_held_out_rows_are_no_file(run, folder):
    words = "--drop score --drop chosen --drop race --max-iter 5"
    run(f"train data.csv --label hired --sensitive sex {words} -o m --report trained.html")
    page = (folder / "trained.html").read_text()
    assert "(here DATA are the rows held out of data.csv)" in page
    assert "<pre>fairsmooth audit m DATA --report again.html</pre>" in page
    assert "<code>sha256sum</code> of a file is another number" in page


def test_equalized_odds_need_labels(run):
    code, _, err = run(f"{SYSTEM} --max-eo 0.001")
    assert code == 1
    assert "--max-eo 0.001: equalized odds sum is" in err
    code, _, err = run("audit unlabelled.csv --scores score --sensitive sex --max-eo 0.1")
    assert code == 2
    assert "Expected labels for --max-eo" in err


def test_a_gap_that_cannot_be_measured_breaks_the_gate(run, folder, table):
    table[table["sex"] == "f"].to_csv(folder / "one.csv", index=False)
    code, _, err = run("audit one.csv --scores score --sensitive sex --max-dp 0.5")
    assert code == 1
    assert "could not be measured" in err


def test_the_table_of_local_law_144(run, folder, table):
    both = "--sensitive sex --sensitive race --standard nyc-ll144"
    code, out, err = run(f"audit unlabelled.csv --scores chosen {both} --csv out.csv")
    assert code == 0
    assert "sex × race" in out
    assert "3 of 400 people are not in the rates by race: their category is unknown." in out
    assert "Wrote out.csv." in err
    with (folder / "out.csv").open(newline="") as file:
        rows = {(row["attribute"], row["category"]): row for row in csv.DictReader(file)}
    rates = table.groupby("sex")["chosen"].mean()
    assert float(rows["sex", "f"]["selection rate"]) == pytest.approx(rates["f"])
    assert float(rows["sex", "f"]["impact ratio"]) == pytest.approx(rates["f"] / rates["m"])
    assert rows["race", "(unknown)"]["applicants"] == "3"
    assert ("sex × race", "m|y") in rows


def test_scores_give_scoring_rates_and_models_selection_rates(run, folder, table):
    line = "audit unlabelled.csv --scores score --sensitive sex --standard nyc-ll144 --json"
    standard = json.loads(run(line)[1])["standard"]
    assert standard["rate"] == "scoring rate"
    above = (table["score"] > table["score"].median())[table["sex"] == "f"].sum()
    assert standard["rows"][0]["chosen"] == above
    line = "audit model data.csv --standard nyc-ll144 --report law.html --json"
    standard = json.loads(run(line)[1])["standard"]
    assert standard["rate"] == "selection rate"
    assert "Local Law 144" in (folder / "law.html").read_text()


def test_rows_without_a_label_or_group_are_told(run, folder, table):
    holes = table.assign(
        hired=table["hired"].where(np.arange(N) > 4, None),
        sex=table["sex"].where(np.arange(N) < N - 3, None),
    )
    holes.to_csv(folder / "holes.csv", index=False)
    line = "audit holes.csv --scores score --label hired --sensitive sex"
    code, out, err = run(f"{line} --json")
    assert code == 0
    assert json.loads(out)["n_rows"] == N - 5
    assert "5 rows without a label are left out" in err
    assert "(missing)" in [group["group"] for group in json.loads(out)["groups"]]
    assert run(f"{line} --strict")[0] == 2
    code, _, err = run("audit holes.csv --scores score --sensitive sex --strict")
    assert code == 2
    assert "Expected a group in every row, got 3 without." in err


def test_what_means_selected_is_named_and_is_what_positive_says(run, folder, table):
    """Without a label, --positive names the decision; silence would turn the rates around."""
    code, out, err = run("audit data.csv --scores chosen --positive 0 --sensitive sex")
    assert (code, "selected where it is '0'." in out) == (0, True)
    assert "In 'chosen' the positive value '0' means selected." in err
    document = json.loads(
        run("audit data.csv --scores chosen --positive 0 --sensitive sex --json")[1]
    )
    assert document["provenance"]["selected"] == "0"
    rates = 1.0 - table.groupby("sex")["chosen"].mean()
    assert [g["selection_rate"] for g in document["groups"]] == pytest.approx([*rates])
    table.assign(chosen=table["chosen"].map({0: "out", 1: "in"})).to_csv(
        folder / "words.csv", index=False
    )
    page = folder / "words.html"
    words = f"audit words.csv --scores chosen --positive in --sensitive sex --report {page}"
    assert "selected where it is 'in'." in run(words)[1]
    assert "column chosen is in" in page.read_text()
    bare = run(words.replace("--positive in", ""))
    assert (bare[0], "name the positive one of the two." in bare[2]) == (2, True)
