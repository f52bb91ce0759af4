"""Watching gaps as users do: batch by batch, from the command line."""

import json

import pandas as pd
import pytest
from tests.integration.hiring import COLUMN, ROLES, mistake, people, run


@pytest.fixture
def batches(tmp_path):
    """Write batches of one system's scores: fair ones, one unlabelled, and one that is not."""
    for k in range(4):
        people(4000, 10 + k, apart=0.0).to_csv(tmp_path / f"{k}.csv", index=False)
    people(1500, 20, apart=3.0).to_csv(tmp_path / "unfair.csv", index=False)
    return tmp_path


def watch(capsys, folder, name, *more):
    watching = ["monitor", folder / name, *COLUMN, "--state", folder / "state.json", *more]
    return run(capsys, *watching, "--json")


def test_open_then_guaranteed_then_alarm(batches, capsys):
    statuses = []
    for name in ("0.csv", "1.csv", "2.csv"):
        code, out, _ = watch(capsys, batches, name, "--max-dp", "0.06")
        document = json.loads(out)
        assert code == 0
        assert set(document) == {"status", "bounds", "measured", "counts"}
        statuses.append(document["status"])
    assert (statuses[0], statuses[-1]) == ("open", "guaranteed")
    page = batches / "watch.html"
    code, out, err = watch(capsys, batches, "unfair.csv", "--report", page)
    assert code == 1
    assert json.loads(out)["status"] == "alarm"
    assert f"Wrote {page}." in err
    text = page.read_text()
    assert "ALARM" in text
    assert 'id="chart-demographic-parity"' in text
    assert "after 4 batches" in text
    assert "default-src 'none'" in text, "the page must load nothing"


def test_a_batch_counts_once_and_its_labels_may_come_later(batches, capsys):
    rows = pd.read_csv(batches / "0.csv")
    limits = ["--max-dp", "0.2", "--max-eo", "0.5"]
    unlabelled = ["--scores", "score", "--sensitive", "sex", "--state", batches / "state.json"]
    early = rows.drop(columns="hired")
    early.to_csv(batches / "early.csv", index=False)
    _, out, _ = run(capsys, "monitor", batches / "early.csv", *unlabelled, *limits, "--json")
    first = json.loads(out)
    assert first["measured"]["equalized_odds_sum"] is None
    assert first["bounds"]["equalized_odds_sum"] == 2.0
    _, out, err = watch(capsys, batches, "0.csv")
    second = json.loads(out)
    assert "Labels of an earlier batch: added to the label cells only." in err
    assert second["measured"]["equalized_odds_sum"] is not None
    selected = [cell for cell in second["counts"] if cell["label"] is None]
    assert selected == [cell for cell in first["counts"] if cell["label"] is None]
    _, out, err = watch(capsys, batches, "0.csv")
    assert "This batch was added before; it is ignored." in err
    assert json.loads(out) == second
    flipped = ["--label", "hired", "--positive", "0"]
    told = mistake(capsys, "monitor", batches / "1.csv", *unlabelled, *flipped)
    assert "another model, threshold, positive value" in told
    assert run(capsys, "monitor", batches / "1.csv", *unlabelled)[0] == 0


def test_a_new_group_is_named_and_counted(batches, capsys):
    watch(capsys, batches, "0.csv", "--max-dp", "0.2")
    rows = pd.read_csv(batches / "1.csv")
    rows.loc[:49, "sex"] = "x"
    rows.loc[50:59, "sex"] = None
    rows.to_csv(batches / "new.csv", index=False)
    code, out, err = watch(capsys, batches, "new.csv")
    assert code == 0
    assert "New groups: (missing), x." in err
    counts = {c["group"]: c["rows"] for c in json.loads(out)["counts"] if c["label"] is None}
    assert (counts["x"], counts["(missing)"]) == (50, 10)
    assert sum(counts.values()) == 8000


def test_the_terminal_shows_a_chart(batches, capsys):
    for name in ("0.csv", "1.csv"):
        watching = ["monitor", batches / name, *COLUMN, "--state", batches / "state.json"]
        code, out, _ = run(capsys, *watching, "--max-dp", "0.1")
    assert code == 0
    assert "demographic_parity measured ▁▁" in out
    assert "the limit 0.1" in out


def test_states_that_do_not_fit_are_refused(batches, capsys):
    train = ["train", batches / "0.csv", *ROLES, "--drop", "score", "-o", batches / "model"]
    assert run(capsys, *train)[0] == 0
    state = batches / "state.json"
    monitor = ["monitor", batches / "1.csv", *COLUMN, "--state", state]
    assert "Expected limits for a new state" in mistake(capsys, *monitor)
    watch(capsys, batches, "0.csv", "--max-dp", "0.1")
    kept = state.read_text()
    assert "Limits are fixed" in mistake(capsys, *monitor, "--max-dp", "0.2")
    assert "the state of another" in mistake(capsys, *monitor, "--threshold", "0.4")
    assert "the state of another" in mistake(capsys, *monitor, "--sensitive", "years")
    assert "the state of another" in mistake(capsys, *monitor, "--positive", "0")
    other = ["monitor", batches / "model", batches / "1.csv", "--state", state]
    assert "the state of another" in mistake(capsys, *other)
    assert "different names" in mistake(capsys, *monitor, "--report", state)
    assert state.read_text() == kept
    damaged = json.loads(kept)
    damaged["batches"][0]["counts"][0][2] = -1
    no_history = json.loads(kept)
    no_history["history"] = [{"date": "today"}]
    for text in ("{", "[]", json.dumps(damaged), json.dumps(no_history)):
        state.write_text(text)
        assert "Expected the state of a monitor" in mistake(capsys, *monitor)
        assert state.read_text() == text


def test_decisions_and_their_contrary_are_not_added_up(tmp_path, capsys):
    """The label's positive value is 0, and the column approved has 0 and 1 too."""
    batch, state = tmp_path / "batch.csv", tmp_path / "state.json"
    rows = {"approved": [0, 1, 1] * 30, "sex": ["f", "m"] * 45, "default": [0, 1] * 45}
    pd.DataFrame(rows).to_csv(batch, index=False)
    watching = ["monitor", batch, "--scores", "approved", "--sensitive", "sex", "--state", state]
    assert run(capsys, *watching, "--max-dp", "0.5")[0] == 0
    kept = state.read_text()
    labelled = [*watching, "--label", "default", "--positive"]
    said = mistake(capsys, *labelled, "0")
    assert "Expected '1' to mean selected, as in the batches that" in said
    assert "got '0'. Name the same --positive" in said
    assert state.read_text() == kept
    code, out, _ = run(capsys, *labelled, "1", "--json")
    selected = {c["group"]: (c["rows"], c["positive"]) for c in json.loads(out)["counts"][:2]}
    assert (code, selected) == (0, {"f": (45, 30), "m": (45, 30)})


def test_a_state_of_an_earlier_version_goes_on_with_decisions(tmp_path, capsys):
    batch, state = tmp_path / "batch.csv", tmp_path / "state.json"
    pd.DataFrame({"d": ["no", "no", "no"], "sex": ["f", "m", "m"]}).to_csv(batch, index=False)
    watching = ["monitor", batch, "--scores", "d", "--sensitive", "sex", "--state", state]
    assert run(capsys, *watching, "--max-dp", "0.5")[0] == 0
    earlier = json.loads(state.read_text())
    assert earlier["rule"].pop("selected") == "yes"
    state.write_text(json.dumps(earlier))
    pd.DataFrame({"d": ["Yes", "No"], "sex": ["f", "m"]}).to_csv(batch, index=False)
    assert run(capsys, *watching)[0] == 0
    assert json.loads(state.read_text())["rule"]["selected"] == "Yes"
    pd.DataFrame({"d": ["yes", "no"], "sex": ["m", "m"]}).to_csv(batch, index=False)
    assert run(capsys, *watching)[0] == 0


def test_options_that_a_model_answers_are_refused(batches, capsys):
    train = ["train", batches / "0.csv", *ROLES, "--drop", "score", "-o", batches / "model"]
    assert run(capsys, *train)[0] == 0
    watching = ["monitor", batches / "model", batches / "1.csv", "--max-dp", "0.5"]
    said = mistake(capsys, *watching, "--state", batches / "state.json", "--threshold", "0.9")
    assert "Leave out --label, --positive, --sensitive and --threshold." in said
    assert not (batches / "state.json").exists()


def test_the_confidence_of_a_state_is_its_own(batches, capsys):
    code, _, _ = watch(capsys, batches, "0.csv", "--max-dp", "0.1", "--confidence", "0.999")
    assert code == 0
    again = ["monitor", batches / "1.csv", *COLUMN, "--state", batches / "state.json"]
    said = mistake(capsys, *again, "--confidence", "0.9")
    assert "at confidence 0.999, got {'demographic_parity': 0.1} at 0.9. Limits are fixed" in said
    for more in ([], ["--confidence", "0.999"], ["--max-dp", "0.1"]):
        assert run(capsys, *again, *more)[0] == 0
