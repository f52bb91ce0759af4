"""Gap guarantees as users run them: test, prove again, forge, train to one."""

import json

import numpy as np
import pandas as pd
import pytest
from tests.integration.hiring import COLUMN, ROLES, mistake, people, run

from fairsmooth.cli.main import main
from fairsmooth.guarantees import GapGuarantee, guarantee_gaps
from fairsmooth.tables import TableModel


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("guarantee")
    tables = {
        "train": people(800, 0),
        "safe": people(3000, 1, first_id=10_000),
        "overlapping": people(500, 2, first_id=799),
    }
    for name, table in tables.items():
        table.to_csv(folder / f"{name}.csv", index=False)
    for name, seed in (("model", "0"), ("other", "1")):
        train = ["train", folder / "train.csv", *ROLES, "--id", "id", "--drop", "score"]
        assert main([str(a) for a in [*train, "--seed", seed, "-o", folder / name]]) == 0
    return folder


@pytest.fixture(scope="module")
def guaranteed(folder):
    """Return a guarantee of the model on the safety rows, as a file."""
    arguments = ["guarantee", folder / "model", folder / "safe.csv", "--max-dp", "0.2"]
    assert main([str(a) for a in [*arguments, "-o", folder / "g.json"]]) == 0
    return folder / "g.json"


# guarantee


def test_a_guarantee_that_holds_is_exit_code_0_and_the_file_is_the_document(
    folder, guaranteed, capsys
):
    arguments = ["guarantee", folder / "model", folder / "safe.csv", "--max-dp", "0.2"]
    code, out, err = run(capsys, *arguments, "--json")
    document = json.loads(out)
    assert code == 0
    assert "No id of these 3,000 rows was among the training rows." in err
    assert document == json.loads(guaranteed.read_text())
    found = GapGuarantee.from_dict(document)
    assert found.holds
    assert found.to_dict() == document
    rows = pd.read_csv(folder / "safe.csv")
    decided = TableModel.load(folder / "model").predict(rows)["prediction"]
    again = guarantee_gaps(
        (decided == "yes").astype(int),
        sensitive_features=rows["sex"],
        limits={"demographic_parity": 0.2},
    )
    assert document["bounds"] == again.bounds
    assert document["measured"]["demographic_parity"] < again.bounds["demographic_parity"]


def test_a_guarantee_that_fails_is_exit_code_1_and_says_what_would_do(folder, capsys):
    arguments = ["guarantee", folder / "model", folder / "safe.csv", "--min-ratio", "0.8"]
    code, out, err = run(capsys, *arguments, "--max-dp", "0.01")
    assert code == 1
    assert "NOT" in out
    assert "no number of rows would guarantee the limit on demographic parity" in err
    assert "these rows are now spent" in err


def test_groups_of_the_model_without_safety_rows_are_told(folder, capsys, tmp_path):
    rows = pd.read_csv(folder / "safe.csv")
    rows.replace({"sex": {"f": "other"}}).to_csv(tmp_path / "rows.csv", index=False)
    told = "1 of the model's 2 groups have no row here (f): nothing is guaranteed of"
    arguments = ["guarantee", folder / "model", "--max-dp", "0.3"]
    assert told in run(capsys, *arguments, tmp_path / "rows.csv")[2]
    assert "groups have no row" not in run(capsys, *arguments, folder / "safe.csv")[2]


def test_any_systems_scores_are_enough(folder, capsys):
    arguments = ["guarantee", folder / "safe.csv", *COLUMN, "--max-dp", "0.2", "--max-eo", "0.4"]
    code, out, err = run(capsys, *arguments, "--json")
    rows = pd.read_csv(folder / "safe.csv")
    again = guarantee_gaps(
        (rows["score"] > 0.5).astype(int),
        sensitive_features=rows["sex"],
        y_true=(rows["hired"] == "yes").astype(int),
        limits={"demographic_parity": 0.2, "equalized_odds_sum": 0.4},
    )
    assert json.loads(out)["bounds"] == again.bounds
    assert code == (0 if again.holds else 1)
    assert "Overlap with the training rows is not checked: no model was given." in err
    unlabelled = ["--scores", "score", "--sensitive", "sex", "--threshold", "0.6"]
    code, out, _ = run(
        capsys, "guarantee", folder / "safe.csv", *unlabelled, "--max-dp", "0.3", "--json"
    )
    assert json.loads(out)["provenance"]["threshold"] == 0.6


def test_a_shift_loosens_the_bound_and_an_attempt_hides_it(folder, guaranteed, capsys):
    arguments = ["guarantee", folder / "model", folder / "safe.csv", "--max-dp", "0.2"]
    plain = json.loads(guaranteed.read_text())
    _, out, _ = run(capsys, *arguments, "--shift", "total_variation:0.01", "--json")
    shifted = json.loads(out)
    assert shifted["shift"] == ["total_variation", 0.01]
    difference = shifted["bounds"]["demographic_parity"] - plain["bounds"]["demographic_parity"]
    assert 0.015 < difference < 0.025
    code, out, err = run(capsys, *arguments, "--attempt", "2", "--json")
    tried = json.loads(out)
    assert (tried["attempt"], tried["bounds"], tried["counts"]) == (2, {}, None)
    assert code == (0 if tried["holds"] else 1)
    assert "rows would guarantee" not in err


def test_a_plan_needs_no_rows_or_reads_the_rates_off_a_table(folder, capsys):
    plan = ["guarantee", "--plan", "--max-dp", "0.1"]
    code, out, _ = run(capsys, *plan, "--rates", ".215,.185", "--json")
    needed = json.loads(out)["rows_needed"]["demographic_parity"]
    assert code == 0
    # The normal approximation: one-sided 95 % and power .8, two groups.
    rough = 2 * (1.645 + 0.842) ** 2 * (0.215 * 0.785 + 0.185 * 0.815) / (0.1 - 0.03) ** 2
    assert rough < needed < 1.2 * rough
    _, out, _ = run(capsys, *plan, "--rates", ".215,.185", "--shares", ".8,.2", "--json")
    assert json.loads(out)["rows_needed"]["demographic_parity"] > needed
    code, out, _ = run(capsys, "guarantee", folder / "safe.csv", *COLUMN, *plan[1:3], "0.2")
    assert code == 0
    assert "rows would guarantee the limit on demographic parity four times in five" in out
    assert "--rates" in mistake(capsys, *plan)
    assert "add up to 1" in mistake(capsys, *plan, "--rates", ".2,.1", "--shares", ".2,.1")


def test_rows_that_were_trained_on_are_refused(folder, capsys):
    limit = ["--max-dp", "0.2"]
    message = mistake(capsys, "guarantee", folder / "model", folder / "train.csv", *limit)
    assert "got the table that it was trained from" in message
    message = mistake(capsys, "guarantee", folder / "model", folder / "overlapping.csv", *limit)
    assert "whose 'id' was among the training rows" in message


def test_people_of_an_unknown_group_are_a_cell_of_their_own(folder, capsys, tmp_path):
    rows = pd.read_csv(folder / "safe.csv")
    rows.loc[:99, "sex"] = None
    rows.to_csv(tmp_path / "some.csv", index=False)
    arguments = ["guarantee", folder / "model", tmp_path / "some.csv", "--max-dp", "0.5"]
    _, out, err = run(capsys, *arguments, "--json")
    assert "100 rows have no known group; they are kept as the group (missing)." in err
    counts = {cell["group"]: cell["rows"] for cell in json.loads(out)["counts"]}
    assert counts["(missing)"] == 100
    assert sum(counts.values()) == 3000


def test_mistakes_are_one_line(folder, capsys):
    both = ["guarantee", folder / "model", folder / "safe.csv"]
    assert "Expected a limit, got none" in mistake(capsys, *both)
    assert "total_variation:0.01" in mistake(capsys, *both, "--max-dp", "0.1", "--shift", "tv")
    unknown = [*both, "--max-dp", "0.1", "--shift", "kl:0.1"]
    assert "Expected shift to be one of" in mistake(capsys, *unknown)
    assert "from the model" in mistake(capsys, *both, "--max-dp", "0.1", "--label", "hired")
    assert "other than the input" in mistake(
        capsys, *both, "--max-dp", "0.1", "-o", folder / "safe.csv"
    )
    assert "--sensitive" in mistake(
        capsys, "guarantee", folder / "safe.csv", "--scores", "score", "--max-dp", "0.1"
    )


# verify


def test_an_honest_guarantee_is_verified_with_and_without_rows(folder, guaranteed, capsys):
    verify = ["verify", folder / "model", "--guarantee", guaranteed]
    code, out, _ = run(capsys, *verify)
    assert code == 0
    assert "is about this model" in out
    assert "taken on trust" in out
    assert "counts" in out.split("taken on trust", 1)[1]
    code, with_rows, _ = run(capsys, *verify, "--data", folder / "safe.csv")
    assert code == 0
    assert "are those of the guarantee" in with_rows
    assert with_rows.count("taken on trust") < out.count("taken on trust")


def test_a_guarantee_alone_is_verified_from_its_counts(folder, guaranteed, capsys, tmp_path):
    code, out, _ = run(capsys, "verify", "--guarantee", guaranteed)
    assert code == 0
    assert "The guarantee holds." in out
    own = ["guarantee", folder / "safe.csv", *COLUMN, "--max-dp", "0.2", "-o", tmp_path / "s.json"]
    assert run(capsys, *own)[0] == 0
    alone = ["verify", "--guarantee", tmp_path / "s.json", "--data", folder / "safe.csv"]
    assert run(capsys, *alone)[0] == 0
    assert "column of decisions" in mistake(
        capsys, "verify", "--guarantee", guaranteed, "--data", folder / "safe.csv"
    )


def test_rows_are_read_and_decided_again_as_they_were(folder, capsys, tmp_path):
    """What is done with unknown values is part of the rule; how the table is written is not."""
    rows = pd.read_csv(folder / "train.csv")
    rows["job"] = np.random.default_rng(5).choice(["clerk", "nurse"], len(rows))
    rows.to_csv(tmp_path / "train.csv", index=False)
    train = ["train", tmp_path / "train.csv", *ROLES, "--drop", "score", "--drop", "id"]
    assert run(capsys, *train, "-o", tmp_path / "m")[0] == 0
    safe = pd.read_csv(folder / "safe.csv").assign(job="smith")
    safe.to_csv(tmp_path / "safe.csv", index=False, sep="|", decimal=",")
    how = ["--sep", "|", "--decimal", ","]
    test = ["guarantee", tmp_path / "m", tmp_path / "safe.csv", "--max-dp", "0.4", *how]
    assert "use --unknown ignore" in mistake(capsys, *test)
    code, _, _ = run(capsys, *test, "--unknown", "ignore", "-o", tmp_path / "g.json")
    assert code == 0
    verify = ["verify", tmp_path / "m", "--guarantee", tmp_path / "g.json"]
    code, out, _ = run(capsys, *verify, "--data", tmp_path / "safe.csv", *how)
    assert code == 0
    assert "are those of the guarantee" in out


@pytest.mark.parametrize(("fact", "value"), [("threshold", "half"), ("label", 1), ("positive", [])])
def test_facts_that_cannot_be_are_one_line(folder, capsys, tmp_path, fact, value):
    forged = tmp_path / "g.json"
    arguments = ["guarantee", folder / "safe.csv", *COLUMN, "--max-dp", "0.3", "-o", forged]
    run(capsys, *arguments)
    document = json.loads(forged.read_text())
    document["provenance"][fact] = value
    forged.write_text(json.dumps(document))
    checked = ["verify", "--guarantee", forged, "--data", folder / "safe.csv"]
    assert "Expected label and positive value as texts" in mistake(capsys, *checked)


def test_a_try_of_a_series_needs_its_rows(folder, capsys, tmp_path):
    tried = ["guarantee", folder / "model", folder / "safe.csv", "--attempt", "2"]
    assert run(capsys, *tried, "--max-dp", "0.2", "-o", tmp_path / "t.json")[0] == 0
    for model in ([folder / "model"], []):
        code, out, _ = run(capsys, "verify", *model, "--guarantee", tmp_path / "t.json")
        assert code == 2
        assert "not checked counts: withheld, as in every series of attempts" in out
        assert "The guarantee could not be checked: give its safety rows with --data." in out
        assert "NOT hold" not in out
    verify = ["verify", folder / "model", "--guarantee", tmp_path / "t.json"]
    code, out, _ = run(capsys, *verify, "--json")
    assert (code, json.loads(out)["holds"]) == (2, False)
    code, out, _ = run(capsys, *verify, "--data", folder / "safe.csv")
    assert code == 0
    assert out.endswith("The certificate holds.\nThe guarantee holds.\n")
    # What fails without rows fails, whatever could be told with them.
    code, out, _ = run(
        capsys, "verify", folder / "other", "--guarantee", tmp_path / "t.json", "--attack", "0.1"
    )
    assert code == 1
    assert out.endswith("The certificate holds.\nThe guarantee does NOT hold.\n")


def test_a_guarantee_that_states_its_failure_is_not_said_to_hold(folder, capsys, tmp_path):
    failed = ["guarantee", folder / "model", folder / "safe.csv", "--max-dp", "0.01"]
    for number, more in enumerate(([], ["--attempt", "1"])):
        assert run(capsys, *failed, *more, "-o", tmp_path / f"{number}.json")[0] == 1
        code, out, _ = run(capsys, "verify", "--guarantee", tmp_path / f"{number}.json")
        assert code == 0
        assert "its limits are NOT guaranteed" in out
        assert "holds." not in out


def test_a_forgery_that_does_not_add_up_is_refused_without_rows(
    folder, guaranteed, capsys, tmp_path
):
    def halved(plain):
        plain["bounds"]["demographic_parity"] /= 2
        plain["claims"][0]["bound"] /= 2

    def fewer(plain):
        plain["counts"][1]["positive"] -= 80

    def surer(plain):
        plain["confidence"] = 0.99

    for number, forge in enumerate((halved, fewer, surer)):
        plain = json.loads(guaranteed.read_text())
        forge(plain)
        (tmp_path / f"{number}.json").write_text(json.dumps(plain))
        for model in ([folder / "model"], []):
            forged = ["verify", *model, "--guarantee", tmp_path / f"{number}.json"]
            code, out, _ = run(capsys, *forged)
            assert code == 1, forge.__name__
            assert "NOT hold" in out


def test_a_forgery_that_adds_up_is_refused_with_the_rows(folder, guaranteed, capsys, tmp_path):
    plain = json.loads(guaranteed.read_text())
    rows = {cell["group"]: (cell["positive"], cell["rows"]) for cell in plain["counts"]}
    false = guarantee_gaps(
        np.concatenate([np.arange(n) < rows["m"][0] * n // rows["m"][1] for _, n in rows.values()]),
        sensitive_features=np.repeat(list(rows), [n for _, n in rows.values()]),
        limits={"demographic_parity": 0.2},
    ).with_provenance(**plain["provenance"])
    assert false.bounds["demographic_parity"] < plain["bounds"]["demographic_parity"]
    (tmp_path / "f.json").write_text(json.dumps(false.to_dict()))
    verify = ["verify", folder / "model", "--guarantee", tmp_path / "f.json"]
    code, out, _ = run(capsys, *verify)
    assert code == 0
    assert "taken on trust" in out
    code, out, _ = run(capsys, *verify, "--data", folder / "safe.csv")
    assert code == 1
    assert "NOT hold" in out


def test_another_models_guarantee_and_other_rows_are_refused(folder, guaranteed, capsys):
    code, out, _ = run(capsys, "verify", folder / "other", "--guarantee", guaranteed)
    assert code == 1
    assert "got another's" in out
    verify = ["verify", folder / "model", "--guarantee", guaranteed]
    code, out, _ = run(capsys, *verify, "--data", folder / "overlapping.csv")
    assert code == 1
    assert "Expected the rows it was made from." in out


# train


def test_training_to_a_guarantee_puts_both_certificates_into_the_file(tmp_path, capsys):
    people(3000, 30, apart=0.1).drop(columns="score").to_csv(tmp_path / "d.csv", index=False)
    train = ["train", tmp_path / "d.csv", *ROLES, "--id", "id", "-o", tmp_path / "m"]
    code, out, err = run(capsys, *train, "--guarantee-dp", "0.2")
    assert code == 0
    assert "safety rows guarantee it with probability about" in err
    assert "Gap guarantee: HOLDS" in out
    code, out, _ = run(capsys, "certificate", tmp_path / "m")
    assert code == 0
    assert "Fairness certificate, 2 groups" in out
    assert "Gap guarantee: HOLDS" in out
    code, out, _ = run(capsys, "verify", tmp_path / "m")
    assert code == 0
    assert "is about this model" in out
    assert "The certificate holds." in out
    # The table it was trained from holds the safety rows too: they are spent.
    spent = ["guarantee", tmp_path / "m", tmp_path / "d.csv", "--max-dp", "0.2"]
    assert "trained from" in mistake(capsys, *spent)


def test_no_guarantee_no_model(tmp_path, capsys):
    people(400, 31, apart=1.0).drop(columns="score").to_csv(tmp_path / "d.csv", index=False)
    train = ["train", tmp_path / "d.csv", *ROLES, "--id", "id", "-o", tmp_path / "m"]
    code, out, err = run(capsys, *train, "--guarantee-dp", "0.01")
    assert (code, out) == (3, "")
    assert "No model can be guaranteed" in err
    assert "now spent" in err
    assert not (tmp_path / "m").exists()
    message = mistake(capsys, *train, "--guarantee-dp", "0.1", "--parity", "demographic_parity")
    assert "Leave out --parity" in message


@pytest.mark.parametrize(
    "option", [("--confidence", "0.99"), ("--aim", "0.5"), ("--shift", "hellinger:0.1")]
)
def test_what_belongs_to_a_guarantee_is_refused_without_one(folder, tmp_path, capsys, option):
    train = ["train", folder / "train.csv", *ROLES, *option, "-o", tmp_path / "model"]
    said = mistake(capsys, *train)
    assert f"Expected {option[0]} with a limit to guarantee, got it alone." in said
    assert not (tmp_path / "model").exists()


def test_half_a_plan_spends_no_rows(folder, tmp_path, capsys):
    tested = ["guarantee", folder / "model", folder / "safe.csv", "--max-dp", "0.2"]
    for more in (["--rates", ".2,.3"], ["--shares", ".5,.5"]):
        said = mistake(capsys, *tested, *more)
        assert "with --plan and no table, got no --plan. No row was tested." in said
    said = mistake(capsys, *tested, "--plan", "--rates", ".2,.3")
    assert "got a table too. Leave out one of them." in said
    for more in (["-o", tmp_path / "plan.json"], ["--report", tmp_path / "plan.html"]):
        said = mistake(capsys, *tested, "--plan", *more)
        assert "got --plan, which tests none. Leave out -o and --report" in said


def test_rows_that_lack_a_label_say_nothing_of_how_many_would_do(capsys, tmp_path):
    table = people(400, 3)
    table.loc[table["sex"] == "f", "hired"] = "no"
    table.to_csv(tmp_path / "none.csv", index=False)
    code, _, err = run(capsys, "guarantee", tmp_path / "none.csv", *COLUMN, "--max-eo", "0.5")
    assert code == 1
    words = " ".join(err.split())
    assert "It cannot be told how many rows the limit on equalized odds sum needs" in words
    assert "a group has no rows with a positive label" in words
    assert "no number of rows" not in words
