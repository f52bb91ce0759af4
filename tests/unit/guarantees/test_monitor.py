import json

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from fairsmooth.exceptions import InputError
from fairsmooth.guarantees import GapGuarantee, GapMonitor, Limits, guarantee_gaps
from fairsmooth.guarantees import ledger as ledger_module

LIMITS = {"demographic_parity": 0.15, "impact_ratio": 0.4}


def batch(rng, *, gap=0.0, n=600, rate=0.3):
    group = np.resize(["a", "b"], n)
    truth = (rng.random(n) < 0.4).astype(int)
    decision = (rng.random(n) < rate + gap * (group == "a")).astype(int)
    return decision, group, truth


def test_good_rates_become_guaranteed_and_a_disaster_is_not_hidden():
    rng = np.random.default_rng(0)
    monitor = GapMonitor(LIMITS)
    statuses = []
    for _ in range(12):
        decision, group, _ = batch(rng)
        statuses.append(monitor.update(decision, sensitive_features=group))
    assert statuses[0] == "open"
    assert statuses[-1] == "guaranteed"
    assert "Still guaranteed, if rates have been constant since" in str(monitor)
    for _ in range(2):
        decision, group, _ = batch(rng, gap=0.6)
        status = monitor.update(decision, sensitive_features=group)
    # All rows together are still within the limit; the restarted evidence is not.
    assert monitor.measured["demographic_parity"] < 0.15
    assert status == "alarm"
    decision, group, _ = batch(rng)
    assert monitor.update(decision, sensitive_features=group) == "alarm"
    assert "ALARM" in str(monitor)
    assert [entry["status"] for entry in monitor.history][-1] == "alarm"


def test_a_steady_gap_beyond_the_limit_raises_the_alarm():
    rng = np.random.default_rng(1)
    monitor = GapMonitor({"demographic_parity": 0.1})
    statuses = []
    for _ in range(20):
        decision, group, _ = batch(rng, gap=0.25, n=100)
        statuses.append(monitor.update(decision, sensitive_features=group))
    assert "guaranteed" not in statuses
    assert statuses[-1] == "alarm"


def test_repeated_batches_and_late_labels():
    rng = np.random.default_rng(2)
    decision, group, truth = batch(rng)
    monitor = GapMonitor({"demographic_parity": 0.3, "equal_opportunity": 0.4})
    assert monitor.update(decision, sensitive_features=group) == "open"
    counts = monitor.counts
    assert monitor.update(decision, sensitive_features=group) == "open"
    assert "added before" in monitor.notes[0]
    assert monitor.counts == counts
    monitor.update(decision, sensitive_features=group, y_true=truth)
    assert "label cells only" in monitor.notes[0]
    everybody = [count for count in monitor.counts if count["label"] is None]
    assert everybody == [count for count in counts if count["label"] is None]
    labelled = sum(count["rows"] for count in monitor.counts if count["label"] is not None)
    assert labelled == len(decision)
    assert monitor.measured["equal_opportunity"] is not None
    monitor.update(decision, sensitive_features=group, y_true=truth)
    assert "added before" in monitor.notes[0]
    # Batches alike by chance are told apart by name.
    monitor.update(decision, sensitive_features=group, batch="monday")
    assert not monitor.notes
    assert monitor.counts[0]["rows"] == 2 * counts[0]["rows"]


def test_labels_may_come_in_several_parts():
    rng = np.random.default_rng(3)
    decision, group, truth = batch(rng)
    late, later = truth.astype(float), truth.astype(float)
    late[::2], later[::4] = np.nan, np.nan
    monitor, at_once = (GapMonitor({"equal_opportunity": 0.4}) for _ in range(2))
    for labels in (late, later):
        monitor.update(decision, sensitive_features=group, y_true=labels)
    monitor = GapMonitor.from_dict(json.loads(json.dumps(monitor.to_dict())))
    monitor.update(decision, sensitive_features=group, y_true=truth)
    assert "added to the label cells only" in monitor.notes[0]
    at_once.update(decision, sensitive_features=group, y_true=truth)
    assert monitor.counts == at_once.counts
    assert monitor.bounds == at_once.bounds
    # Again, with fewer, with others, or with groups it never had: nothing is counted twice.
    for labels in (truth, late, 1 - truth):
        monitor.update(decision, sensitive_features=group, y_true=labels)
        assert monitor.notes == ["This batch was added before; it is ignored."]
    monitor.update(decision, sensitive_features=group, y_true=late, batch="named")
    monitor.update(decision, sensitive_features=group + "x", y_true=truth, batch="named")
    assert monitor.notes == ["This batch was added before; it is ignored."]
    assert {row["group"] for row in monitor.counts} == {"a", "b"}


def test_labels_of_a_batch_long_summed_up_are_not_counted_twice(monkeypatch):
    monkeypatch.setattr(ledger_module, "MOST_BATCHES", 2)
    rng = np.random.default_rng(4)
    batches = [batch(rng) for _ in range(4)]
    monitor = GapMonitor({"equal_opportunity": 0.4})
    for number, (decision, group, truth) in enumerate(batches):
        half = np.where(np.arange(len(truth)) % 2, truth, np.nan) if number < 3 else None
        monitor.update(decision, sensitive_features=group, y_true=half)
    counts = monitor.counts
    for decision, group, truth in batches[:3]:
        monitor.update(decision, sensitive_features=group, y_true=truth)
        assert monitor.counts == counts
    # The last one had no labels at all, so that all of its labels are new.
    decision, group, truth = batches[3]
    monitor.update(decision, sensitive_features=group, y_true=truth)
    labelled = sum(row["rows"] for row in monitor.counts if row["label"] is not None)
    assert labelled == 3 * 300 + 600


@pytest.mark.parametrize("kind", ["arrow", "dates", "bands", "bytes"])
def test_groups_of_every_kind_are_the_same_after_they_were_written(kind):
    rng = np.random.default_rng(5)
    decision, group, truth = batch(rng)
    given = {
        "arrow": pa.table({"sex": group}),
        "dates": pd.to_datetime(pd.Series(np.where(group == "a", "2020-01-01", "2021-06-01"))),
        "bands": pd.cut(pd.Series(np.where(group == "a", 20, 60)), [0, 40, 80]),
        "bytes": group.astype("S1"),
    }[kind]
    monitor = GapMonitor({"demographic_parity": 0.4, "equal_opportunity": 0.4})
    monitor.update(decision, sensitive_features=given)
    monitor = GapMonitor.from_dict(json.loads(json.dumps(monitor.to_dict())))
    monitor.update(decision, sensitive_features=given, y_true=truth)
    assert "added to the label cells only" in monitor.notes[0]
    monitor.update(1 - decision, sensitive_features=given)
    assert [row["rows"] for row in monitor.counts if row["label"] is None] == [600, 600]
    found = guarantee_gaps(decision, sensitive_features=given, limits={"impact_ratio": 0.1})
    assert GapGuarantee.from_dict(json.loads(json.dumps(found.to_dict()))) == found


def test_new_groups_and_missing_values_are_counted_and_named():
    rng = np.random.default_rng(3)
    decision, group, truth = batch(rng)
    monitor = GapMonitor({"demographic_parity": 0.3})
    monitor.update(decision, sensitive_features=group)
    later = np.where(np.arange(len(group)) < 3, None, group)
    labels = np.where(np.arange(len(group)) < 5, np.nan, truth)
    monitor.update(decision, sensitive_features=later, y_true=labels)
    assert "New groups: (missing)." in monitor.notes
    assert "5 rows without a label count for selection only." in monitor.notes
    missing = [c for c in monitor.counts if c["group"] == "(missing)" and c["label"] is None]
    assert missing[0]["rows"] == 3
    assert monitor.status == "open"  # three rows say nothing about the new group


def test_unlabelled_batches_leave_label_limits_open():
    rng = np.random.default_rng(4)
    monitor = GapMonitor(Limits(equalized_odds_sum=1.9))
    for _ in range(3):
        decision, group, _ = batch(rng)
        assert monitor.update(decision, sensitive_features=group) == "open"
    assert monitor.bounds == {"equalized_odds_sum": 2.0}
    for _ in range(2):
        decision, group, truth = batch(rng)
        monitor.update(decision, sensitive_features=group, y_true=truth)
    assert monitor.status == "guaranteed"


def test_one_group_alone_is_open():
    monitor = GapMonitor(LIMITS)
    assert monitor.status == "open"
    assert monitor.since is None
    assert monitor.update([0, 1], sensitive_features=["a", "a"], date="2024-01-01") == "open"
    assert monitor.since == "2024-01-01"


def test_state_survives_json():
    rng = np.random.default_rng(5)
    monitor = GapMonitor(LIMITS, confidence=0.9)
    decision, group, truth = batch(rng)
    monitor.update(decision, sensitive_features=group, y_true=truth, date="2024-01-01")
    plain = json.loads(json.dumps(monitor.to_dict()))
    again = GapMonitor.from_dict(plain)
    assert again.to_dict() == monitor.to_dict()
    assert (again.status, again.bounds) == (monitor.status, monitor.bounds)
    assert again.update(decision, sensitive_features=group) == monitor.status
    assert "added before" in again.notes[0]


NO_NUMBERS = dict.fromkeys(LIMITS, "NaN")


@pytest.mark.parametrize(
    "change",
    [
        {"format": "other"},
        {"limits": {"parity": 1}},
        {"batches": [{"digest": "x", "date": "d", "kind": "k", "counts": [[0, None, 5, 3]]}]},
        {"batches": [{"digest": "x", "date": "d", "kind": "k", "counts": [[7, None, 1, 3]]}]},
        {"batches": 3},
        {"batches": [{"digest": "x", "date": "d", "kind": "k", "counts": [[0, None, 1, 10**400]]}]},
        {"groups": ["a", "a"]},
        {"alarmed": False},
        {"alarmed": ""},
        {"alarmed": 0},
        {
            "history": [
                {
                    "date": "d",
                    "status": "open",
                    "bounds": NO_NUMBERS,
                    "measured": dict.fromkeys(LIMITS),
                }
            ]
        },
    ],
)
def test_states_that_do_not_fit_are_refused(change):
    plain = GapMonitor(LIMITS).to_dict() | change
    with pytest.raises(InputError, match=r"Expected (the state of a monitor|limit)"):
        GapMonitor.from_dict(plain)


def test_many_batches_are_summed_up(monkeypatch):
    monkeypatch.setattr(ledger_module, "MOST_BATCHES", 4)
    rng = np.random.default_rng(6)
    monitor = GapMonitor(LIMITS)
    for _ in range(9):
        decision, group, _ = batch(rng, n=60)
        monitor.update(decision, sensitive_features=group)
    assert len(monitor.to_dict()["batches"]) == 4
    assert sum(c["rows"] for c in monitor.counts if c["label"] is None) == 9 * 60
    # The oldest is still known.
    rng = np.random.default_rng(6)
    decision, group, _ = batch(rng, n=60)
    monitor.update(decision, sensitive_features=group)
    assert "added before" in monitor.notes[0]


def test_mistakes_are_named():
    with pytest.raises(InputError, match="Use one monitor per column"):
        GapMonitor({"sex": {"demographic_parity": 0.1}})
    monitor = GapMonitor(LIMITS)
    with pytest.raises(InputError, match="Expected decisions 0 or 1"):
        monitor.update([0.5, 1], sensitive_features=["a", "b"])
    with pytest.raises(InputError, match="Expected one label per decision"):
        monitor.update([0, 1], sensitive_features=["a", "b"], y_true=[1])
    with pytest.raises(InputError, match="or missing ones, got other values"):
        monitor.update([0, 1], sensitive_features=["a", "b"], y_true=[1, 7])
