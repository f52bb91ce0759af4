"""Trained from files, a column at a time, or in memory: the same model, on any messy table."""

import numpy as np
import pytest
from tests.messy_tables import COLUMNS, N, messy
from tests.unit.data.files.test_stored import folder_of

from fairsmooth.data.files import read_table
from fairsmooth.data.files.stored import StoredTable
from fairsmooth.data.roles import Roles
from fairsmooth.estimator import FairSmoothClassifier
from fairsmooth.exceptions import FairSmoothError
from fairsmooth.tables.fitting import fit_table
from fairsmooth.tables.stored_fitting import fit_stored

NUMBERS = ("real", "real-gaps", "whole-gaps", "words-gaps", "large-reals")


def outcome(fit, table, roles, **options):
    """Return the model's file contents, its audit, or what was refused."""
    classifier = FairSmoothClassifier(random_state=0, max_iter=8, tol=0.5, group_weights="share")
    try:
        fitted = fit(table, roles, classifier=classifier, seed=3, **options)
    except FairSmoothError as error:
        return str(error)
    model = fitted.model
    return {
        "provenance": model.provenance.to_dict(),
        "encoder": model.encoder.to_dict(),
        "roles": model.roles,
        "groups": model.classifier.groups_,
        "parameters": model.classifier.group_parameters_,
        "free": model.classifier.free_group_parameters_,
        "audit": fitted.audit.records,
    }


def require_same(one, other):
    if isinstance(one, str) or isinstance(other, str):
        assert one == other
        return
    for name in ("provenance", "encoder", "roles", "groups"):
        assert one[name] == other[name]
    for name in ("parameters", "free"):
        np.testing.assert_array_equal(one[name], other[name])
    for mine, theirs in zip(one["audit"], other["audit"], strict=True):
        assert (mine.metric, mine.group, mine.count) == (theirs.metric, theirs.group, theirs.count)
        np.testing.assert_allclose(
            [np.nan if v is None else v for v in (mine.value, mine.low, mine.high)],
            [np.nan if v is None else v for v in (theirs.value, theirs.low, theirs.high)],
            rtol=1e-9,
            atol=1e-12,
        )


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.filterwarnings("ignore::fairsmooth.exceptions.ScaleWarning")
@pytest.mark.parametrize(
    ("values", "numeric"),
    [
        *((values, "auto") for values in COLUMNS.values()),
        *((COLUMNS[name], "standardised") for name in NUMBERS),
    ],
    ids=[*COLUMNS, *(f"{name}-standardised" for name in NUMBERS)],
)
def test_a_stored_table_gives_the_model_of_the_table_in_memory(values, numeric, tmp_path):
    path = folder_of(messy(values), tmp_path / "parts")
    roles = Roles("risk", ("sex", "age:2"), positive="good")
    options = {"columns": numeric, "test_size": 0.3}
    memory = outcome(fit_table, read_table(path), roles, **options)
    require_same(outcome(fit_stored, StoredTable.at(path), roles, **options), memory)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize(
    "change",
    [
        {"ids": ("c",)},
        {"drop": ("c", "x")},
        {"include_sensitive": True},
        {"sensitive": ("sex",)},
        {"sensitive": ("sex", "c")},
        {"label": "nothing"},
        {"label": "sex"},
        {"drop": ("risk",)},
        {"positive": None},
        {"drop": ("c", "x", "age")},
    ],
)
@pytest.mark.parametrize("strict", [False, True])
def test_roles_mean_the_same_for_both(change, strict, tmp_path):
    path = folder_of(messy([k % 3 for k in range(N)]), tmp_path / "parts")
    roles = Roles(**{"label": "risk", "sensitive": ("sex", "age:2"), "positive": "good", **change})
    options = {"strict": strict, "test_size": 0.2}
    memory = outcome(fit_table, read_table(path), roles, **options)
    require_same(outcome(fit_stored, StoredTable.at(path), roles, **options), memory)
