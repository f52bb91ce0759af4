"""A search on a table: columns learned once per fold, never from the rows that are judged."""

import numpy as np
import pandas as pd
import pytest

from fairsmooth.data.roles import Roles
from fairsmooth.exceptions import InputError
from fairsmooth.tables import searching
from fairsmooth.tables.searching import search_table
from fairsmooth.tuning import SearchLimits, SearchSpace
from fairsmooth.verify import verify

ROLES = Roles(label="y", sensitive=("sex",), positive=1, unknown="ignore")


@pytest.fixture(scope="module")
def table():
    random = np.random.default_rng(0)
    n = 400
    sex = random.choice(["f", "m"], n)
    skill = random.normal(0.4 * (sex == "m"), 1.0)
    return pd.DataFrame(
        {
            "skill": skill,
            "town": random.choice(["a", "b", "c"], n),
            "sex": sex,
            "y": (skill + random.normal(0, 0.7, n) > 0).astype(int),
        }
    )


def run(table, tmp_path, **options):
    usual = {
        "limits": SearchLimits(), "space": SearchSpace(parity=(None,)), "n_trials": 4, "n_jobs": 1,
        "storage": tmp_path / "t", "test_size": 0.3, "seed": 0, "callback": lambda done: None,
        "n_folds": 2,
    }  # fmt: skip
    return search_table(table, ROLES, **usual | options)


def test_columns_are_learned_once_per_fold_and_not_from_judged_rows(table, tmp_path, monkeypatch):
    seen = []
    encode = searching.encode_training

    def spy(features, y, *rest, columns, **options):
        seen.append((columns, len(y), set(features["skill"])))
        return encode(features, y, *rest, columns=columns, **options)

    monkeypatch.setattr(searching, "encode_training", spy)
    found = run(table, tmp_path, columns=("binned", "standardised"), n_trials=6)
    assert sorted(columns for columns, *_ in seen) == ["binned"] * 2 + ["standardised"] * 2
    n_train = found.fitted.model.provenance.rows
    assert all(n_rows < n_train for _, n_rows, _ in seen)
    first, second = (rows for columns, _, rows in seen if columns == "binned")
    assert not first & second  # two folds: what one learns from, the other judges
    assert found.tuned.columns in ("binned", "standardised")
    assert found.fitted.model.encoder.numeric == found.tuned.columns


def test_the_summary_has_the_front_and_the_reasons(table, tmp_path):
    found = run(table, tmp_path, limits=SearchLimits(max_epsilon=0.5))
    summary = found.summary()
    assert summary["front"]["n_rows"] == found.fitted.model.provenance.rows
    assert summary["why"]
    assert summary["finished"] <= summary["trials"] == 4
    low, high = summary["intervals"]["demographic_parity"]
    assert low <= summary["held_out"]["demographic_parity"] <= high


def test_it_tells_where_the_test_rows_say_something_else(table, tmp_path, monkeypatch):
    found = run(table, tmp_path, limits=SearchLimits(max_epsilon=0.5))
    audited = found.fitted.audit.summary()
    gap = audited["demographic_parity"]
    object.__setattr__(found.tuned, "intervals", {
        "demographic_parity": (gap + 0.1, gap + 0.2),
        "equalized_odds_sum": (0.0, 2.0),
    })  # fmt: skip
    object.__setattr__(found.tuned.front, "limits", {"epsilon": audited["epsilon"] / 2.0})
    object.__setattr__(found.tuned, "measured", {"epsilon": 0.0})
    bound, outside = found.notes
    assert "above the limit" in bound
    assert "is outside the interval from the search" in outside


def test_the_guarantees_margin_is_that_of_the_test_rows(table, tmp_path):
    limits = SearchLimits(max_dp=0.05)
    found = run(table, tmp_path, limits=limits, aim="guarantee", n_trials=2)
    assert found.tuned.front.aim["rows"] == len(found.fitted.test)
    assert found.tuned.trials["chance"].between(0.0, 1.0).all()
    assert not found.tuned.feasible  # so few rows guarantee nothing
    assert not found.tested.holds
    assert found.fitted.model.guarantee is None
    assert "The model carries no guarantee, and these rows are spent" in found.notes[-1]


def test_a_guarantee_that_was_aimed_at_is_in_the_model_and_verifies(table, tmp_path):
    limits = SearchLimits(max_dp=0.6, max_epsilon=5.0)
    found = run(table, tmp_path, limits=limits, aim="guarantee", n_trials=2)
    model = found.fitted.model
    assert model.guarantee.holds
    assert model.guarantee.limits == {"demographic_parity": 0.6}
    assert sum(cell.rows for cell in model.guarantee.counts if cell.label is None) == len(
        found.fitted.test
    )
    assert found.summary()["guarantee"]["holds"]
    model.save(tmp_path / "model.safetensors")
    assert verify(tmp_path / "model.safetensors").holds


def test_without_limits_on_gaps_nothing_is_guaranteed(table, tmp_path):
    limits = SearchLimits(max_epsilon=5.0)
    found = run(table, tmp_path, limits=limits, aim="guarantee", n_trials=2)
    assert found.tested is None
    assert found.fitted.model.guarantee is None


def test_unknown_columns_are_refused(table, tmp_path):
    with pytest.raises(InputError, match="Expected columns to be one of"):
        run(table, tmp_path, columns=("binned", "other"))
