import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairsmooth.metrics import audit
from fairsmooth.metrics.auditing.score_counts import FEWEST


def _counts(scores, groups, y=None, threshold=0.5):
    return audit(
        y_true=y, y_score=scores, sensitive_features=groups, threshold=threshold
    ).score_counts


@given(
    st.integers(0, 2**32 - 1),
    st.integers(20, 600),
    st.integers(2, 6),
    st.sampled_from([0.5, 0.123, 0.98, 0.0]),
)
def test_no_cell_is_small_and_no_range_misses_the_truth(seed, n, n_groups, threshold):
    random = np.random.default_rng(seed)
    scores = random.beta(0.4, 1.5, n).round(int(random.integers(1, 6)))
    groups, y = np.arange(n) % n_groups, random.integers(0, 2, n)
    y[:2] = 0, 1
    sizes = np.array([np.bincount(y[groups == g], minlength=2) for g in range(n_groups)])
    found = _counts(scores, groups, y, threshold)
    assert found.thresholds[found.used] == threshold
    parted = [2 if (size >= FEWEST).all() else 1 for size in sizes]
    assert len(found.cells) == sum(parted)
    for cell in found.cells:
        mine = scores[(groups == cell.group) & ((cell.label is None) | (y == cell.label))]
        assert cell.rows == (len(mine) if len(mine) >= FEWEST else 0)
        if not cell.rows:
            assert cell.edges == ()
            continue
        steps = -np.diff([cell.rows, *cell.above, 0])
        assert (steps >= FEWEST).all()
        for position, at in enumerate(found.thresholds):
            least, most = cell.range_at(position)
            assert least <= (mine > at).sum() <= most
            if position in cell.edges:
                assert least == most


def test_the_classifiers_own_threshold_is_exact_where_it_can_be():
    random = np.random.default_rng(0)
    scores, groups = random.random(400), np.arange(400) % 2
    found = _counts(scores, groups, threshold=0.3217)
    for cell in found.cells:
        assert cell.label is None
        true = (scores[groups == cell.group] > 0.3217).sum()
        assert cell.range_at(found.used) == (true, true)


def test_scores_of_any_size_have_a_grid_of_their_own():
    scores = np.random.default_rng(0).normal(600, 80, 500)
    found = _counts(scores, np.arange(500) % 2, threshold=640.0)
    assert found.thresholds[0] == scores.min()
    assert found.thresholds[-1] == scores.max()
    assert 640.0 in found.thresholds


def test_decisions_alone_and_weights_have_no_counts():
    decided, groups = [0, 1] * 30, ["a"] * 30 + ["b"] * 30
    assert audit(y_pred=decided, sensitive_features=groups).score_counts is None
    weighted = audit(
        y_score=np.linspace(0, 1, 60), sensitive_features=groups, sample_weight=np.ones(60)
    )
    assert weighted.score_counts is None


@pytest.mark.parametrize("n_groups", [2, 30])
def test_the_sample_of_gaps_is_small_and_holds_the_largest(n_groups):
    from fairsmooth import FairSmoothClassifier
    from fairsmooth.datasets import make_biased

    data = make_biased(n_samples=50 * n_groups, n_features=3, n_groups=n_groups, random_state=0)
    given_ = {"sensitive_features": data.sensitive_features}
    clf = FairSmoothClassifier(random_state=0).fit(data.X, data.y, **given_)
    found = audit(clf, data.X, data.y, **given_)
    sample = found.gap_sample
    assert len(sample.gaps) <= 300 + n_groups
    for group in found.groups:
        mine = [gap for g, gap in zip(sample.groups, sample.gaps, strict=True) if g == group]
        assert max(mine) == found.find("epsilon_linf", group).value
        assert max(mine) <= clf.certificate_.epsilon_by_group[group]
