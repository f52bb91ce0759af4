"""The estimator with limits on decisions: one shift, one map, and what stays true."""

import json
from contextlib import nullcontext
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from sklearn.exceptions import ConvergenceWarning

from fairsmooth import FairSmoothClassifier
from fairsmooth.attack import Target, attack
from fairsmooth.core.certificate import certify
from fairsmooth.data.groups import encode_groups
from fairsmooth.datasets import make_biased
from fairsmooth.exceptions import ConstantRuleWarning, InputError, ModelFileError
from fairsmooth.metrics import audit
from fairsmooth.metrics.rates import measure
from fairsmooth.persistence import load, save
from fairsmooth.training.decisions.limits import NAMES, limits_of
from fairsmooth.training.decisions.solve import judge_of
from fairsmooth.verify import verify

TOLERANCE = (0.04, 0.06)


def fitted(data, parity="both", tolerance=TOLERANCE, **options):
    clf = FairSmoothClassifier(
        parity=parity,
        parity_solver="decisions",
        parity_tolerance=tolerance,
        random_state=0,
        **options,
    )
    return clf.fit(data.X, data.y, sensitive_features=data.sensitive_features)


def drawn(n_groups=2, **options):
    made = make_biased(n_features=4, n_groups=n_groups, **options)
    groups = np.asarray(made.sensitive_features)
    return SimpleNamespace(X=made.X.to_numpy(np.float64), y=made.y, sensitive_features=groups)


@pytest.fixture(scope="module")
def data():
    return drawn(n_samples=500, random_state=1)


@pytest.fixture(scope="module")
def fair(data):
    return fitted(data)


def excess(clf, data, parity, tolerance=TOLERANCE):
    groups = encode_groups(data.sensitive_features, n_rows=len(data.y))
    judge = judge_of(data.y, groups, limits_of(parity, tolerance))
    return float(judge.limits.excess(judge.hits(clf.predict(data.X) == 1)))


@pytest.mark.parametrize("parity", NAMES)
def test_gaps_of_decisions_on_training_rows_never_exceed_the_aim(parity, data):
    clf = fitted(data, parity)
    assert excess(clf, data, parity) == 0.0
    assert 0.05 < clf.predict(data.X).mean() < 0.95


@pytest.mark.parametrize("options", [
    {"link": "probit", "sigma": 0.3, "center": "ball"},
    {"sigma": 0.0},
    {"alpha": 0.0, "calibrate": False},
    {"hidden_layer_sizes": (6,), "max_iter": 15, "sigma": 0.3},
])  # fmt: skip
def test_they_do_not_with_other_links_centres_and_layers_either(options):
    three = drawn(n_groups=3, n_samples=450, random_state=2)
    # Few epochs: that training did not converge is said.
    with pytest.warns(ConvergenceWarning) if "max_iter" in options else nullcontext():
        clf = fitted(three, **options, tolerance=(0.1, 0.25))
    assert excess(clf, three, "both", (0.1, 0.25)) == 0.0


def test_the_shift_leaves_epsilon_and_the_map_divides_sigma(data, fair):
    plain = fitted(data, calibrate=False)
    tied = FairSmoothClassifier(random_state=0)
    tied.fit(data.X, data.y, sensitive_features=data.sensitive_features)
    assert plain.certificate_.epsilon == pytest.approx(tied.certificate_.epsilon, abs=1e-12)
    assert plain.threshold_ == 0.5
    steeper = certify(fair.group_parameters_, sigma=1.0 / fair.calibration_.slope).epsilon_tight
    assert fair.certificate_.epsilon_tight == pytest.approx(steeper, rel=1e-12)
    assert fair.certificate_.slope == fair.calibration_.slope
    assert np.array_equal(fair.group_parameters_, plain.group_parameters_)


def test_the_map_keeps_decisions_and_lowers_the_loss(data, fair):
    plain = fitted(data, calibrate=False)
    assert np.array_equal(plain.predict(data.X), fair.predict(data.X))
    assert fair.threshold_ == fair.calibration_.half
    losses = [
        -np.log(clf.predict_proba(data.X)[np.arange(len(data.y)), data.y]).mean()
        for clf in (plain, fair)
    ]
    assert losses[1] <= losses[0]


def test_intervals_hold_for_the_groups_own_mapped_scores(data, fair):
    scores, intervals = fair.predict_with_interval(data.X)
    assert scores == pytest.approx(fair.predict_proba(data.X)[:, 1], abs=1e-15)
    far = np.random.default_rng(0).normal(size=(300, 4)) * 50.0
    for X in (data.X, far):
        intervals = fair.predict_interval(X)
        for position, group in enumerate(fair.groups_):
            own = fair.predict_proba_group(X, group)[:, 1]
            assert (intervals[:, position, 0] <= own).all()
            assert (own <= intervals[:, position, 1]).all()


def test_no_input_found_exceeds_the_bound_of_the_mapped_scores(fair):
    target = Target(
        fair.architecture_,
        fair.group_parameters_,
        fair.parameters_,
        sigma=fair.rule_.sigma,
        link=fair.rule_.link,
        groups=fair.groups_,
        calibration=fair.calibration_,
    )
    for found in attack(target, seconds=1.0):
        assert not found.violates
        assert found.ratio > 0.5
        assert found.bound == fair.certificate_.epsilon_by_group[found.group]


def test_the_target_maps_scores_as_the_classifier_does(data, fair):
    target = Target(
        fair.architecture_, fair.group_parameters_, fair.parameters_, sigma=1.0,
        link="logistic", groups=fair.groups_, calibration=fair.calibration_,
    )  # fmt: skip
    X = data.X[:50]
    gaps, errors = target.gaps_with_error(torch.tensor(X), 0)
    own = fair.predict_proba_group(X, fair.groups_[0])[:, 1]
    expected = np.abs(fair.predict_proba(X)[:, 1] - own)
    assert (np.abs(gaps.numpy() - expected) <= errors.numpy() + 1e-14).all()


def test_a_file_keeps_map_and_decisions_and_verifies(data, fair, tmp_path):
    save(fair, tmp_path / "model")
    again = load(tmp_path / "model")
    assert np.array_equal(again.predict_proba(data.X), fair.predict_proba(data.X))
    assert np.array_equal(again.predict(data.X), fair.predict(data.X))
    assert again.calibration_ == fair.calibration_
    checks = {check.name: check for check in verify(tmp_path / "model").checks}
    assert verify(tmp_path / "model").holds
    assert repr(fair.calibration_.slope) in checks["calibration"].detail


@pytest.mark.parametrize("change", [
    lambda plain: plain["calibration"].update(slope=2.0 * plain["calibration"]["slope"]),
    lambda plain: plain.pop("calibration"),
    lambda plain: plain["certificate"].pop("slope"),
    lambda plain: plain["calibration"].update(slope=-1.0),
    lambda plain: plain["calibration"].update(slope=True),
    lambda plain: plain["calibration"].update(more=1.0),
])  # fmt: skip
def test_a_forged_map_is_refused_by_reader_and_verifier(change, fair, tmp_path):
    from fairsmooth.persistence import layout

    save(fair, tmp_path / "model")
    found = layout.read(tmp_path / "model")
    plain = json.loads(found.text)
    change(plain)
    layout.write(tmp_path / "model", layout.canonical(plain), found.tensors)
    assert not verify(tmp_path / "model").holds
    with pytest.raises(ModelFileError):
        load(tmp_path / "model")


def test_limits_that_only_a_constant_keeps_give_one_and_say_so(data):
    with pytest.warns(ConstantRuleWarning, match="one decision for everybody"):
        clf = fitted(data, "both", (0.0, 0.0))
    assert np.unique(clf.predict(data.X)).size == 1
    assert excess(clf, data, "both", (0.0, 0.0)) == 0.0


def test_a_ratio_that_nothing_keeps_selects_everybody_rather_than_nobody():
    # Two rows a group and one column that orders all negatives of one group first.
    X = np.array([[0.0], [1.0], [2.0], [3.0], [4.0]])
    clf = FairSmoothClassifier(
        parity="impact_ratio", parity_solver="decisions", parity_tolerance=(0.0, 0.0)
    )
    with pytest.warns(ConstantRuleWarning):
        clf.fit(X, [0, 1, 0, 1, 0], sensitive_features=["a", "a", "b", "b", "b"])
    assert clf.predict(X).all()


def test_the_same_seed_gives_the_same_model(data, fair):
    assert np.array_equal(fitted(data).parameters_, fair.parameters_)


@pytest.mark.parametrize("alpha", [0.25, 0.0])
def test_the_tying_cost_is_against_classifiers_that_were_not_shifted(data, alpha):
    clf = fitted(data, alpha=alpha)
    tied = FairSmoothClassifier(alpha=alpha, random_state=0)
    tied.fit(data.X, data.y, sensitive_features=data.sensitive_features)
    free = tied.group_parameters_ if alpha == 0.0 else tied.free_group_parameters_
    assert np.array_equal(clf.free_group_parameters_, free)
    found = audit(clf, data.X, data.y, sensitive_features=data.sensitive_features)
    costs = {r.group: r.value for r in found.records if r.metric == "tying_cost_accuracy"}
    for group in clf.groups_:
        rows = data.sensitive_features == group
        X, y = data.X[rows], data.y[rows]
        own = clf.predict_proba_group(X, group)[:, 1] > clf.threshold_
        alone = clf.predict_proba_free(X, group)[:, 1] > 0.5
        assert costs[group] == pytest.approx((alone == y).mean() - (own == y).mean(), abs=1e-12)


def test_calibration_is_there_without_limits_too(data):
    clf = FairSmoothClassifier(calibrate=True, random_state=0)
    clf.fit(data.X, data.y, sensitive_features=data.sensitive_features)
    assert clf.calibration_ is not None
    assert clf.threshold_ == 0.5
    assert FairSmoothClassifier().fit(
        data.X, data.y, sensitive_features=data.sensitive_features
    ).calibration_ is None  # fmt: skip


def test_accuracy_within_the_limits_exceeds_that_of_a_constant(data, fair):
    groups = encode_groups(data.sensitive_features, n_rows=len(data.y))
    found = measure(fair.predict(data.X), data.y, groups)
    assert found["accuracy"] > max(data.y.mean(), 1.0 - data.y.mean()) + 0.02


@pytest.mark.parametrize(("options", "message"), [
    ({"parity": None}, "Expected parity to be one of"),
    ({"parity_weight": 1.0}, "Expected parity_weight=0 with parity_solver='decisions'"),
    ({"threshold": 0.4}, "Expected threshold=0.5 with parity_solver='decisions'"),
    ({"threshold": "accuracy"}, "Expected threshold=0.5 with parity_solver='decisions'"),
    ({"parity_solver": "magic"}, "Expected parity_solver to be one of"),
    ({"calibrate": "yes"}, "Expected calibrate True, False or 'auto'"),
    ({"parity": "equal_opportunity", "parity_solver": "surrogate"}, "Expected parity to be one of"),
    ({"module": torch.nn.Linear(4, 1)}, "Expected a linear model or hidden_layer_sizes"),
])  # fmt: skip
def test_what_does_not_go_together_is_refused(options, message, data):
    settings = {"parity": "both", "parity_solver": "decisions", **options}
    clf = FairSmoothClassifier(**settings)
    with pytest.raises(InputError, match=message):
        clf.fit(data.X, data.y, sensitive_features=data.sensitive_features)
