"""What every method of the comparison promises, whatever it optimises."""

from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch
from sklearn.base import clone
from sklearn.utils.estimator_checks import check_estimator

from fairsmooth import baselines
from fairsmooth.baselines import methods
from fairsmooth.datasets import entry
from fairsmooth.exceptions import GroupError, InputError

# The parity term says where decisions have other gaps than its surrogate: so it should. DLR says
# that its published limit of 500 steps ended it.
pytestmark = [
    pytest.mark.filterwarnings("ignore::fairsmooth.exceptions.ParityWarning"),
    pytest.mark.filterwarnings("ignore:DLR's solver stopped early"),
]

METHODS = {method.name: method for method in methods()}
CASES = {
    "adult-sex": 2,
    "adult-race": 2,
    "adult-races": 5,
    "compas-sex": 2,
    "compas-race": 2,
    "compas-races": 6,
}
N_ROWS = 1500
TABLE = Path(__file__).parents[2] / "docs" / "baselines" / "README.md"

# Enough training to beat the bounds below on 1,500 rows; a method not named here runs as it is.
QUICK = {
    "apxfair": {"n_rounds": 100, "offset": 0.0},
    "arl": {"n_steps": 350, "batch_size": 128, "adversary_learning_rate": 0.1},
    "fair_mixup": {"n_epochs": 2, "n_iterations": 30, "batch_size": 50},
    "fairbatch": {"n_epochs": 30, "learning_rate": 5e-3},
    "frs": {"n_epochs": 40, "warm_start": 20, "learning_rate": 5e-3},
    "implicit": {"n_iterations": 40, "batch_size": 200},
    "dlr": {"n_tries": 3},
    "fcrl": {"n_epochs": 15, "learning_rate": 5e-3},
}

# Published accuracy of these two lies below the majority's, so no more is asked of them.
BELOW_MAJORITY = {"dlr": 0.30, "apxfair": 0.15}

EXPORTED = {
    "UnconstrainedClassifier",
    "ApxFairClassifier",
    "ARLClassifier",
    "FairMixupClassifier",
    "FairBatchClassifier",
    "FRSClassifier",
    "ImplicitPathAlignmentClassifier",
    "GroupFairClassifier",
    "FCRLClassifier",
    "DLRClassifier",
}


def load(case):
    name, sensitive = case.split("-")
    options = {"race": "full"} if sensitive == "races" else {}
    return entry(name).loader(sensitive=sensitive.removesuffix("s"), **options)


def some_rows(dataset, n_rows):
    """Take rows at random, but 30 of every label in every group where there are as many."""
    order = np.random.default_rng(0).permutation(len(dataset))
    cells = dataset.groups.codes[order] * 2 + dataset.y[order]
    rank = pd.Series(cells).groupby(cells).cumcount().to_numpy()
    chosen = order[np.argsort(rank >= 30, kind="stable")[:n_rows]]
    return dataset.take(np.sort(chosen))


@cache
def parts(case):
    return some_rows(load(case), N_ROWS).split(test_size=0.3, random_state=0)


def build(name, **options):
    return METHODS[name].estimator(**{**QUICK.get(name, {}), "random_state": 0, **options})


def fit(name, data):
    return build(name).fit(data.X, data.y, sensitive_features=data.sensitive_features)


@cache
def fitted(name, case):
    return fit(name, parts(case)[0])


def majority(y):
    return max(y.mean(), 1 - y.mean())


every_method = pytest.mark.parametrize("name", sorted(METHODS))
every_case = pytest.mark.parametrize("case", CASES)


def test_methods_have_names_of_their_own():
    found = methods()
    assert len({method.name for method in found}) == len(found)
    assert len({method.label for method in found}) == len(found)
    assert len(found) == 14


def test_the_ten_classes_are_exported_and_registered():
    assert set(baselines.__all__) >= EXPORTED
    registered = {getattr(method.estimator, "class_name", "") for method in methods()}
    assert registered >= EXPORTED


@every_method
def test_is_in_the_table_of_the_docs(name):
    rows = [line for line in TABLE.read_text().splitlines() if line.startswith(f"| `{name}` |")]
    assert len(rows) == 1
    assert f"| {METHODS[name].label} |" in rows[0]
    page = rows[0].rsplit("(", 1)[1].split(")")[0]
    assert (TABLE.parent / page).exists()


@every_case
@every_method
def test_learns_and_gives_probabilities(name, case):
    test = parts(case)[1]
    model = fitted(name, case)
    probabilities = model.predict_proba(test.X)
    assert probabilities.shape == (len(test), 2)
    assert (probabilities >= 0.0).all()
    assert (probabilities <= 1.0).all()
    np.testing.assert_allclose(probabilities.sum(axis=1), 1.0)
    decisions = model.predict(test.X)
    np.testing.assert_array_equal(decisions, model.classes_[(probabilities[:, 1] > 0.5) * 1])
    allowed = BELOW_MAJORITY.get(name, 0.02) + 1.0 / np.sqrt(len(test))
    assert (decisions == test.y).mean() >= majority(test.y) - allowed


@every_case
@every_method
def test_knows_every_group(name, case):
    train = parts(case)[0]
    assert set(fitted(name, case).groups_) == set(train.sensitive_features)
    assert len(fitted(name, case).groups_) == CASES[case]


@every_method
def test_same_seed_same_model(name):
    train, test = parts("compas-sex")
    again = fit(name, train).predict_proba(test.X)
    np.testing.assert_array_equal(again, fitted(name, "compas-sex").predict_proba(test.X))


@every_method
def test_predictions_do_not_change_with_asking(name):
    test = parts("compas-sex")[1]
    model = fitted(name, "compas-sex")
    first = model.predict_proba(test.X)
    np.testing.assert_array_equal(model.predict_proba(test.X), first)
    np.testing.assert_allclose(model.predict_proba(test.X[:7]), first[:7], atol=1e-6)


@every_method
def test_global_random_streams_are_left_alone(name):
    train = parts("compas-sex")[0]
    before, numpy_before = torch.get_rng_state(), np.random.get_state()[1].copy()
    fit(name, train)
    assert torch.equal(torch.get_rng_state(), before)
    np.testing.assert_array_equal(np.random.get_state()[1], numpy_before)


@every_method
def test_string_labels_give_the_same_model(name):
    train, test = parts("compas-sex")
    words = np.array(["declined", "granted"])
    model = build(name).fit(train.X, words[train.y], sensitive_features=train.sensitive_features)
    numbers = fitted(name, "compas-sex").predict(test.X)
    np.testing.assert_array_equal(model.predict(test.X), words[numbers])


@every_method
def test_arrays_give_the_same_model_as_frames(name):
    train, test = parts("compas-sex")
    groups = train.sensitive_features.to_numpy()
    model = build(name).fit(train.X.to_numpy(), train.y, sensitive_features=groups)
    np.testing.assert_array_equal(
        model.predict_proba(test.X.to_numpy()), fitted(name, "compas-sex").predict_proba(test.X)
    )


@every_method
def test_inputs_are_not_changed(name):
    train = parts("compas-sex")[0]
    X, y = train.X.to_numpy(copy=True), train.y.copy()
    groups = train.sensitive_features.to_numpy(copy=True)
    kept = X.copy(), y.copy(), groups.copy()
    build(name).fit(X, y, sensitive_features=groups).predict_proba(X)
    for array, copy in zip((X, y, groups), kept, strict=True):
        np.testing.assert_array_equal(array, copy)


@every_method
def test_parameters_survive_cloning(name):
    model = build(name)
    copy = clone(model)
    assert copy.get_params() == model.get_params()
    assert "random_state" in copy.get_params()
    assert not hasattr(clone(fitted(name, "compas-sex")), "classes_")


@every_method
def test_groups_are_required(name):
    train = parts("compas-sex")[0]
    with pytest.raises(InputError, match="Expected sensitive_features"):
        build(name).fit(train.X, train.y)
    with pytest.raises(GroupError, match="at least 2 groups"):
        build(name).fit(train.X, train.y, sensitive_features=np.zeros(len(train)))


def with_groups(name):
    """Make an estimator that supplies groups, of which scikit-learn's checks know nothing."""
    model = build(name, **CHECKED.get(name, {}))
    parent = type(model)

    def fit(self, X, y=None, *, sensitive_features=None):
        if sensitive_features is None and y is not None:
            labels = pd.Series(np.asarray(y).ravel())
            sensitive_features = (labels.groupby(labels).cumcount() % 2).to_numpy()
        return parent.fit(self, X, y, sensitive_features=sensitive_features)

    title = f"{parent.__name__}For{name.title().replace('_', '')}"
    child = type(title, (parent,), {"fit": fit, "__module__": __name__})
    globals()[title] = child
    return child(**model.get_params())


# Shorter still: the checks fit a few dozen rows hundreds of times.
CHECKED = {
    "apxfair": {"n_rounds": 30},
    "arl": {"n_steps": 60, "pretrain_steps": 20, "batch_size": 32},
    "fair_mixup": {
        "n_epochs": 2,
        "n_iterations": 20,
        "learning_rate": 0.05,
        "hidden_layer_sizes": (16,),
    },
    "fairbatch": {"n_epochs": 10, "learning_rate": 0.05},
    "frs": {"n_epochs": 10, "warm_start": 5, "learning_rate": 0.05},
    "implicit": {"n_iterations": 10, "hidden_layer_sizes": (16,)},
    "fcrl": {"n_epochs": 15, "learning_rate": 0.01},
}


@every_method
def test_estimator_checks(name):
    results = check_estimator(with_groups(name), on_fail=None, on_skip=None)
    failed = {
        result["check_name"]: repr(result["exception"])
        for result in results
        if result["status"] == "failed"
    }
    assert not failed
    assert sum(result["status"] == "passed" for result in results) > 40


@pytest.mark.slow
@every_case
@every_method
def test_full_size_with_default_parameters(name, case):
    train, test = load(case).split(test_size=0.3, random_state=0)
    model = METHODS[name].estimator(random_state=0)
    model.fit(train.X, train.y, sensitive_features=train.sensitive_features)
    accuracy = (model.predict(test.X) == test.y).mean()
    assert accuracy >= majority(test.y) - BELOW_MAJORITY.get(name, 0.02)
