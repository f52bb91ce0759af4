"""The parity term's surrogate beside decisions: both reported, and told where they differ."""

import tracemalloc
import warnings
from dataclasses import replace

import numpy as np
import pytest
import torch

from fairsmooth import FairSmoothClassifier
from fairsmooth.data.groups import Groups
from fairsmooth.exceptions import InputError, ParityWarning
from fairsmooth.metrics.rates import gaps_of, group_rates_of
from fairsmooth.training import parity_gaps
from fairsmooth.training.annealing import solve_in_stages, stage_of_epoch
from fairsmooth.training.convergence import Solution
from fairsmooth.training.history import TrainingStep
from fairsmooth.training.parity import narrowing, soft_decisions
from fairsmooth.training.parity_gaps import ParityGaps, warn_disagreement
from fairsmooth.training.problem import Problem


def sample(n=3000, n_groups=3, seed=0):
    random = np.random.default_rng(seed)
    groups = Groups(tuple(range(n_groups)), random.integers(0, n_groups, n))
    return random.random(n), random.integers(0, 2, n), groups


@pytest.mark.parametrize("n_groups", [2, 3])
def test_both_kinds_of_gaps_are_those_of_the_metrics(n_groups):
    scores, y, groups = sample(n_groups=n_groups)
    found = ParityGaps.of(scores, y, groups, threshold=0.4, bandwidth=0.3)
    soft = soft_decisions(torch.tensor(scores), threshold=0.4, bandwidth=0.3).numpy()
    for decided, gaps in ((soft, found.surrogate), (scores > 0.4, found.decisions)):
        expected = gaps_of(group_rates_of(decided, y, groups))
        assert gaps == pytest.approx({name: float(expected[name]) for name in gaps})
    assert "of decisions and" in str(found)
    assert found.to_dict()["apart"] == list(found.apart)


def test_a_group_without_a_label_has_no_say():
    scores, y, groups = sample()
    y[groups.codes == 2] = 0
    found = ParityGaps.of(scores, y, groups, threshold=0.5, bandwidth=0.1)
    rates = gaps_of(group_rates_of(scores > 0.5, y, groups))
    assert found.decisions["equalized_odds_sum"] == pytest.approx(
        float(rates["equalized_odds_sum"])
    )


def test_gaps_and_their_noise_are_those_of_rows_taken_group_by_group():
    scores, y, groups = sample(n=5000, n_groups=7)
    scores[y == 1] **= 0.5
    y[groups.codes == 4] = 1
    found = ParityGaps.of(scores, y, groups, threshold=0.4, bandwidth=0.3)
    soft = soft_decisions(torch.tensor(scores), threshold=0.4, bandwidth=0.3).numpy()
    hard = (scores > 0.4).astype(np.float64)
    noise = {}
    for decided, gaps in ((soft, found.surrogate), (hard, found.decisions)):
        for name, labels in (("demographic_parity", [(0, 1)]), ("equalized_odds_sum", [[1], [0]])):
            gap = noise[name] = 0.0
            for among in labels:
                parts = [decided[(groups.codes == k) & np.isin(y, among)] for k in range(7)]
                parts = [part for part in parts if len(part)]
                gap += np.ptp([part.mean() for part in parts])
                noise[name] += sum(sorted(part.var() / len(part) for part in parts)[-2:])
            assert gaps[name] == pytest.approx(gap, abs=1e-12)
    for name, squared in noise.items():
        families = parity_gaps._families(hard, y, groups)[name]
        assert sum(each.noise() for each in families) == pytest.approx(squared, abs=1e-15)


def test_memory_does_not_grow_with_rows_times_groups():
    peaks = []
    for n_groups in (2, 200):
        scores, y, groups = sample(n=100_000, n_groups=n_groups)
        tracemalloc.start()
        ParityGaps.of(scores, y, groups, threshold=0.5, bandwidth=0.1)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    # A mask of every row for every group would add 20 MB, or more, to 3.
    assert peaks[1] < 1.5 * peaks[0]


def test_gaps_that_differ_are_one_warning():
    # Group 1 sits just above the threshold: soft decisions see half of it, decisions all of it.
    codes = np.repeat([0, 1], 1000)
    scores = np.where(codes == 1, 0.501, 0.499)
    y = np.tile([0, 1], 1000)
    groups = Groups(("a", "b"), codes)
    found = ParityGaps.of(scores, y, groups, threshold=0.5, bandwidth=0.4)
    assert found.apart == ("demographic_parity", "equalized_odds_sum")
    with pytest.warns(ParityWarning, match=r"parity gap 1\.000 \(surrogate 0\.00.\)") as caught:
        warn_disagreement(found)
    assert len(caught) == 1
    assert "\n" not in str(caught[0].message)
    narrow = ParityGaps.of(scores, y, groups, threshold=0.5, bandwidth=1e-5)
    assert narrow.apart == ()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warn_disagreement(narrow)


def test_noise_of_few_rows_is_no_disagreement():
    scores, y, groups = sample(n=40, n_groups=2)
    few = ParityGaps.of(scores, y, groups, threshold=0.5, bandwidth=0.4)
    many = ParityGaps.of(
        np.tile(scores, 500),
        np.tile(y, 500),
        replace(groups, codes=np.tile(groups.codes, 500)),
        threshold=0.5,
        bandwidth=0.4,
    )
    assert few.decisions == pytest.approx(many.decisions)
    assert few.apart == ()
    assert many.apart != ()


def test_training_goes_from_wide_to_narrow():
    assert narrowing(0.05) == (0.4, 0.2, 0.1, 0.05)
    assert narrowing(0.3) == (0.3,)
    problem = Problem(None, 0.0, 0.0, parity="both", parity_weight=1.0, parity_bandwidth=0.1)
    assert [p.parity_bandwidth for p in problem.stages()] == [0.4, 0.2, 0.1]
    assert replace(problem, parity_weight=0.0).stages()[0].parity_bandwidth == 0.1
    seen = [stage_of_epoch(problem, e, epochs=8).parity_bandwidth for e in range(1, 9)]
    assert seen == [0.4, 0.2, 0.2, 0.1, 0.1, 0.1, 0.1, 0.1]
    assert stage_of_epoch(problem, 1, epochs=1).parity_bandwidth == 0.1


def test_stages_share_the_iterations_and_number_them_on():
    calls, steps = [], []

    def solve(problem, start, max_iter, tol, report):
        calls.append((problem.parity_bandwidth, float(start), max_iter, tol))
        for step in range(1, 4):
            report(TrainingStep(step, 0.0, (), 0.0, 0.0))
        return Solution(start + 1.0, 3)

    problem = Problem(None, 0.0, 0.0, parity="both", parity_weight=1.0, parity_bandwidth=0.1)
    found = solve_in_stages(
        problem, torch.tensor(0.0), solve=solve, max_iter=40, tol=0.01, report=steps.append
    )
    assert calls == [(0.4, 0.0, 10, 0.1), (0.2, 1.0, 10, 0.1), (0.1, 2.0, 34, 0.01)]
    assert [step.step for step in steps] == list(range(1, 10))
    assert (found.steps, float(found.parameters)) == (9, 3.0)


def fit(data, **options):
    options = {"link": "probit", "parity": "both", "parity_weight": 1.0, **options}
    return FairSmoothClassifier(random_state=0, free_reference=False, **options).fit(
        data.X, data.y, sensitive_features=data.sensitive_features
    )


def test_a_fitted_classifier_holds_both(biased):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ParityWarning)
        narrow, wide = fit(biased, parity_bandwidth=0.05), fit(biased, parity_bandwidth=1.0)
    for clf in (narrow, wide):
        expected = gaps_of(
            group_rates_of(clf.predict(biased.X) == clf.classes_[1], np.asarray(biased.y),
                           biased.groups)
        )  # fmt: skip
        found = clf.parity_gaps_.decisions
        assert found == pytest.approx({name: float(expected[name]) for name in found})
    difference = [
        sum(abs(g.surrogate[n] - g.decisions[n]) for n in g.decisions)
        for g in (narrow.parity_gaps_, wide.parity_gaps_)
    ]
    assert difference[0] < difference[1]
    assert fit(biased, parity=None).parity_gaps_ is None


@pytest.mark.parametrize("value", [0.0, -1.0, float("nan"), float("inf")])
def test_a_bandwidth_is_positive(biased, value):
    with pytest.raises(InputError, match="Expected parity_bandwidth > 0"):
        fit(biased, parity_bandwidth=value)
