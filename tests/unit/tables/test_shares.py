"""One model of a table that several ranks hold, here threads: exact, and refused alike."""

import json

import numpy as np
import pandas as pd
import pytest
from tests.ranks_in_threads import run_ranks

from fairsmooth import FairSmoothClassifier
from fairsmooth.data.encoding import TableEncoder
from fairsmooth.data.files.shares import read_share, share_of_frame
from fairsmooth.data.roles import Roles
from fairsmooth.exceptions import InputError
from fairsmooth.tables import TableModel
from fairsmooth.tables import shares as module
from fairsmooth.tables.shares import fit_share

ROLES = Roles("hired", ("group",))


@pytest.fixture(scope="module")
def table():
    draw, n = np.random.default_rng(1), 400
    group = np.sort(draw.choice(["a", "b", "c"], n))
    frame = pd.DataFrame({"age": draw.integers(18, 70, n), "pay": draw.lognormal(3, 1, n).round(2)})
    frame["job"] = draw.choice(["clerk", "cook"], n)
    frame.loc[frame.index[:6], "pay"] = np.nan  # all on one rank
    logit = 0.05 * (frame["age"] - 40) - 0.4 * (group == "b")
    return frame.assign(group=group, hired=(logit + draw.logistic(size=n) > 0).astype(int))


@pytest.fixture(scope="module")
def alone(table):
    return TableModel.fit(table, label="hired", sensitive="group", random_state=0)


def model_of(ranks, own, **options):
    classifier = FairSmoothClassifier(group_weights="share", random_state=0)
    options = {"roles": ROLES, "classifier": classifier, **options}
    return fit_share(share_of_frame(own, ranks), options.pop("roles"), ranks, **options)


def fitted(parts, **options):
    return run_ranks(len(parts), lambda ranks: model_of(ranks, parts[ranks.rank], **options))


def by_group(table):
    return [rows for _, rows in table.groupby("group")]


def assert_equal(found, expected):
    assert found.encoder.to_dict() == expected.encoder.to_dict()
    difference = found.classifier.group_parameters_ - expected.classifier.group_parameters_
    assert np.abs(difference).max() <= 1e-9
    assert (found.provenance.rows, found.provenance.held_out) == (
        expected.provenance.rows,
        expected.provenance.held_out,
    )


def test_groups_apart_give_the_model_and_the_rates_of_pooled_rows(table, alone):
    for model in fitted(by_group(table), apart=True):
        assert_equal(model, alone)
        mine, theirs = model.measured, alone.measured
        for metric in ("accuracy", "demographic_parity", "equalized_odds_sum", "impact_ratio"):
            assert mine.find(metric).value == pytest.approx(theirs.find(metric).value, abs=1e-12)
        assert mine.certificate.groups == theirs.certificate.groups
        assert any("The audit is one of counts" in note for note in model.provenance.notes)


def test_several_groups_on_one_rank_and_a_rank_without_rows(table, alone):
    parts = [table.iloc[:290], table.iloc[:0], table.iloc[290:]]
    first, *others = fitted(parts)
    assert_equal(first, alone)
    for record in alone.measured.records:
        mine = first.measured.find(record.metric, record.group)
        assert mine.value == pytest.approx(record.value, abs=1e-8, nan_ok=True)
    assert all(other.measured is None for other in others)


def test_an_encoder_that_was_agreed_on_needs_no_learning(table):
    given = TableEncoder.learn(table[["age", "job"]], n_bins=4)
    for model in fitted(by_group(table), encoder=given, apart=True):
        assert model.encoder == given


def test_only_numbers_and_names_leave_a_rank(table):
    """Record what is sent: no message has a row's number beyond edges that the model shows."""
    secret = table.assign(age=np.arange(len(table)) + 1000.5)

    def work(ranks):
        said = []
        plain = ranks.exchange
        ranks.exchange = lambda contents: said.append(contents.decode()) or plain(contents)
        model = model_of(ranks, secret.iloc[ranks.rank :: 2], apart=True)
        return model, " ".join(said)

    for model, said in run_ranks(2, work):
        shown = json.dumps(model.encoder.to_dict())
        leaked = [age for age in secret["age"] if str(age) in said and str(age) not in shown]
        assert leaked == []


def refused(message, parts, **options):
    with pytest.raises(InputError, match=message):
        fitted(parts, **options)


def test_mistakes_are_refused_on_every_rank(table, monkeypatch):
    two = [table.iloc[:200], table.iloc[200:]]
    refused("without bands with several ranks, got age:4", two, roles=Roles("hired", ("age:4",)))
    refused("same columns on every rank.*'pay'", [two[0], two[1].drop(columns="pay")])
    refused("Expected at least 2 groups", [table[table["group"] == "a"]] * 2)
    refused("label with 2 values", [two[0].assign(hired=2), two[1]])
    refused("rows to hold out at test_size=0.01", [table.iloc[::9], table.iloc[4::9]],
            test_size=0.01)  # fmt: skip
    refused("more than one value", [part[["group", "hired"]].assign(x=1) for part in two])
    refused("Expected columns of one kind", [two[0].assign(job=[1, "a"] * 100), two[1]])
    refused("every column name once", [p.rename(columns={"pay": "age"})
            for p in two])  # fmt: skip
    monkeypatch.setattr(module, "MOST_TEXTS", 1)
    refused("at most 1 different texts in column 'job'", two, apart=True)


def test_whole_numbers_on_one_rank_are_numbers_on_another(table):
    # pandas stores whole numbers with a gap, or a single fraction, as floats.
    whole = table.astype({"age": float})
    whole.loc[whole.index[-3:], "age"] += 0.5
    alone = TableModel.fit(whole, label="hired", sensitive="group", random_state=0)
    parts = by_group(whole)
    for model in fitted([parts[0].astype({"age": "int64"}), *parts[1:]], apart=True):
        assert_equal(model, alone)


def test_an_infinite_number_is_refused_in_any_row(table):
    parts = by_group(table.astype({"pay": float}))
    for row in range(3, 9):  # some of them would be held out
        bad = parts[2].copy()
        bad.iloc[row, bad.columns.get_loc("pay")] = np.inf
        message = rf"in column 'pay', got 1 infinite \(the first in row {row + 1}\).*Rank 2 of 3"
        with pytest.raises(InputError, match=message):
            fitted([*parts[:2], bad])


def test_ranks_with_different_encoders_are_refused(table):
    both = [TableEncoder.learn(table[[name]]) for name in ("age", "job")]

    def work(ranks):
        return model_of(ranks, table.iloc[ranks.rank :: 2], encoder=both[ranks.rank])

    with pytest.raises(InputError, match="same encoder on every rank, got 2 different"):
        run_ranks(2, work)


def test_a_row_that_an_agreed_encoder_cannot_encode_is_refused(table):
    given = TableEncoder.learn(pd.DataFrame({"age": [20.0, 30.0], "job": ["cook", "baker"]}))
    refused("not seen in training", by_group(table), encoder=given)


def test_excel_is_refused(tmp_path):
    path = tmp_path / "t.xlsx"
    path.write_bytes(b"PK\x03\x04")
    with pytest.raises(InputError, match="with several ranks, got"):
        run_ranks(2, lambda ranks: read_share(path, ranks))


def test_shares_of_a_file_are_its_rows_in_order(table, tmp_path):
    mixed = table.assign(code=["7"] * 399 + ["X"])  # one row makes it text, for all ranks
    mixed.to_parquet(tmp_path / "t.parquet", index=False, row_group_size=150)
    mixed.to_csv(tmp_path / "t.csv", index=False)
    for size, name in [(3, "t.csv"), (3, "t.parquet"), (5, "t.parquet")]:

        def ages(ranks, name=name):
            own = read_share(tmp_path / name, ranks)
            texts = own["code"].astype(object)
            assert texts.iloc[0] in ("7", "X")
            return own["age"].tolist(), len(own)

        found = run_ranks(size, ages)
        assert [age for own, _ in found for age in own] == table["age"].tolist()
        assert max(count for _, count in found) - min(count for _, count in found) <= 1
