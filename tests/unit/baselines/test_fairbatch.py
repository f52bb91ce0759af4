import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.baselines.zafar_recipe import accuracy_and_gap, fairbatch_sets

from fairsmooth.baselines._kit.linear_adam import LinearAdam
from fairsmooth.baselines.fairbatch import mixing
from fairsmooth.baselines.fairbatch.classifier import FairBatchClassifier
from fairsmooth.exceptions import InputError

share = st.floats(0, 1)
loss = st.floats(0, 5)

# Means over ten seeds in the authors' notebook: accuracy, targeted gap.
PUBLISHED = {
    "equal_opportunity": (0.8552, 0.0123),
    "equalized_odds": (0.8563, 0.0376),
    "demographic_parity": (0.7942, 0.0400),
}


@pytest.fixture(scope="module")
def synthetic():
    return fairbatch_sets()


def toy(n_groups=2, n_rows=300):
    random = np.random.default_rng(0)
    group = random.integers(0, n_groups, n_rows)
    X = random.normal(size=(n_rows, 3)) + 0.5 * group[:, None]
    y = (X[:, 0] + 0.5 * random.normal(size=n_rows) > 0.5).astype(int)
    return X, y, group


def test_the_recipe_gives_the_released_rows(synthetic):
    train, test = synthetic
    np.testing.assert_allclose(train.X[0], [1.9120828, 1.8598784, 0.0], atol=1e-6)
    np.testing.assert_allclose(train.X[2], [4.110919, -0.7831541, 0.0], atol=1e-6)
    assert (len(train.y), len(test.y)) == (2000, 1000)
    assert train.group.mean() == pytest.approx(0.441)
    assert train.group[train.y == 1].mean() == pytest.approx(0.6149312)


def fit_and_measure(synthetic, notion, seed):
    train, test = synthetic
    model = FairBatchClassifier(notion=notion, random_state=seed)
    model.fit(train.X, train.y, sensitive_features=train.group)
    return accuracy_and_gap(model, test, notion)


@pytest.mark.parametrize("notion", ["equal_opportunity", "equalized_odds"])
def test_published_means_are_met(synthetic, notion):
    found = [fit_and_measure(synthetic, notion, seed) for seed in range(3)]
    np.testing.assert_allclose(np.mean(found, axis=0), PUBLISHED[notion], atol=0.02)


@pytest.mark.slow
@pytest.mark.parametrize("notion", PUBLISHED)
def test_published_means_are_met_by_ten_seeds(synthetic, notion):
    found = [fit_and_measure(synthetic, notion, seed) for seed in range(10)]
    np.testing.assert_allclose(np.mean(found, axis=0), PUBLISHED[notion], atol=0.02)


# For demographic parity the outcome depends on the initial weights. The authors'
# code, started from the weights that our seeds draw, gave these figures.
@pytest.mark.parametrize(
    ("seed", "expected"), [(0, (0.833, 0.1024)), (1, (0.804, 0.0480)), (5, (0.795, 0.0424))]
)
def test_demographic_parity_agrees_with_the_authors_code_from_the_same_start(
    synthetic, seed, expected
):
    found = fit_and_measure(synthetic, "demographic_parity", seed)
    np.testing.assert_allclose(found, expected, atol=0.02)


def test_without_steps_it_is_plain_training(synthetic):
    train, test = synthetic
    model = FairBatchClassifier(alpha=0.0, random_state=0)
    model.fit(train.X, train.y, sensitive_features=train.group)
    # The authors' code without FairBatch: accuracy .885, gaps .114 and .257.
    accuracy, gap = accuracy_and_gap(model, test, "equal_opportunity")
    assert accuracy == pytest.approx(0.885, abs=0.02)
    assert gap == pytest.approx(0.114, abs=0.02)
    assert accuracy_and_gap(model, test, "demographic_parity")[1] == pytest.approx(0.257, abs=0.02)


@given(lambdas=st.tuples(share, share), losses=st.lists(loss, min_size=4, max_size=4))
@pytest.mark.parametrize("notion", mixing.NOTIONS)
def test_two_groups_follow_the_signed_step_of_the_paper(notion, lambdas, losses):
    table = np.array(losses).reshape(2, 2)
    first, second = table[:, 1] - table[:, 0]
    if 0.0 in (first, second) or abs(first) == abs(second):
        return
    expected = list(lambdas)
    label = 1 if notion == "equal_opportunity" or abs(second) > abs(first) else 0
    sign = np.sign(table[label, 1] - table[label, 0])
    if notion == "demographic_parity" and label == 0:
        sign = -sign
    expected[label] = min(max(expected[label] + 0.005 * sign, 0.0), 1.0)
    ratios = np.array([[1 - value, value] for value in lambdas])
    found = mixing.step_ratios(ratios, table, notion=notion, alpha=0.005)
    np.testing.assert_allclose(found[:, 1], expected, atol=1e-12)


@given(
    losses=st.lists(loss, min_size=10, max_size=10),
    weights=st.lists(share, min_size=5, max_size=5),
)
@pytest.mark.parametrize("notion", mixing.NOTIONS)
def test_more_groups_are_compared_in_sequence(notion, losses, weights):
    table = np.array(losses).reshape(2, 5)
    ratios = np.tile((np.array(weights) + 0.01) / np.sum(np.array(weights) + 0.01), (2, 1))
    found = mixing.step_ratios(ratios, table, notion=notion, alpha=0.05)
    np.testing.assert_allclose(found.sum(axis=1), 1.0)
    assert (found >= 0).all()
    pairs = [(abs(table[y, z + 1] - table[y, z]), y, z) for y in (0, 1) for z in range(4)]
    if notion == "equal_opportunity":
        pairs = [pair for pair in pairs if pair[1] == 1]
    largest = max(difference for difference, _, _ in pairs)
    changed = np.argwhere(found != ratios)
    assert any(
        difference == largest and set(map(tuple, changed)) <= {(y, z), (y, z + 1)}
        for difference, y, z in pairs
    )
    if largest > 0:
        (label, first), (_, second) = changed
        risen = (found[label, second] > ratios[label, second]) == (
            table[label, second] > table[label, first]
        )
        assert risen != (notion == "demographic_parity" and label == 0)
        moved = np.abs(found - ratios).max()
        gave = ratios[label, first if found[label, first] < ratios[label, first] else second]
        assert moved == pytest.approx(min(0.05, gave))


def test_three_groups_by_hand():
    ratios = np.array([[0.2, 0.3, 0.5], [0.01, 0.49, 0.5]])
    # 0.9 and 0.1 are the extremes of label 1, but 0.1 and 0.6 are neighbours.
    losses = np.array([[0.3, 0.3, 0.4], [0.1, 0.6, 0.9]])
    found = mixing.step_ratios(ratios, losses, notion="equalized_odds", alpha=0.05)
    np.testing.assert_allclose(found, [[0.2, 0.3, 0.5], [0.0, 0.5, 0.5]])


@pytest.mark.parametrize("notion", mixing.NOTIONS)
def test_compared_losses_match_their_definition(notion):
    X, y, group = toy()
    model = LinearAdam(X, y, np.array([0.3, -0.2, 0.1, 0.4]), slope=2.0)
    p = (np.tanh(X @ [0.3, -0.2, 0.1] + 0.4) + 1) / 2
    cells = [[np.flatnonzero((y == c) & (group == z)) for z in (0, 1)] for c in (0, 1)]
    found = mixing.cell_losses(model, notion, cells)
    for c in (0, 1):
        for z in (0, 1):
            rows = (y == c) & (group == z)
            if notion == "demographic_parity":
                expected = -np.log(p[rows]).sum() / (group == z).sum()
            else:
                expected = -np.log(p[rows] if c == 1 else 1 - p[rows]).mean()
            assert found[c, z] == pytest.approx(expected, rel=1e-5)


def test_batch_sizes_share_out_each_label():
    counts = np.array([[60.0, 40.0], [30.0, 70.0]])
    ratios = np.array([[0.25, 0.75], [1.0, 0.0]])
    odds = mixing.batch_sizes(ratios, counts, notion="equalized_odds", batch_size=100)
    opportunity = mixing.batch_sizes(ratios, counts, notion="equal_opportunity", batch_size=100)
    assert odds.tolist() == [[12, 38], [50, 0]]
    assert opportunity.tolist() == [[30, 20], [50, 0]]


def test_an_empty_cell_gives_no_rows():
    counts, ratios = np.array([[50.0, 0.0], [25.0, 25.0]]), np.full((2, 2), 0.5)
    found = mixing.batch_sizes(ratios, counts, notion="equalized_odds", batch_size=100)
    assert found.tolist() == [[25, 0], [25, 25]]


def test_five_groups_strings_and_frames():
    X, y, group = toy(n_groups=5)
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    labels = np.where(y == 1, "yes", "no")
    model = FairBatchClassifier(n_epochs=20, learning_rate=0.01, random_state=0)
    model.fit(frame, labels, sensitive_features=[f"group {z}" for z in group])
    assert model.ratios_.shape == (2, 5)
    assert model.score(frame, labels) > 0.7


def test_seeds_decide_everything():
    X, y, group = toy()
    first, again, other = (
        FairBatchClassifier(n_epochs=3, random_state=seed).fit(X, y, sensitive_features=group)
        for seed in (0, 0, 1)
    )
    np.testing.assert_array_equal(first.predict_proba(X), again.predict_proba(X))
    assert not np.array_equal(first.predict_proba(X), other.predict_proba(X))


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"notion": "parity"}, "Expected notion to be one of 'equalized_odds'"),
        ({"alpha": -0.1}, "Expected alpha >= 0, got alpha=-0.1"),
        ({"n_epochs": 0}, "Expected n_epochs > 0, got n_epochs=0"),
        ({"batch_size": 0}, "Expected batch_size > 0, got batch_size=0"),
        ({"learning_rate": 0.0}, "Expected learning_rate > 0, got learning_rate=0.0"),
    ],
)
def test_bad_parameters_are_named(parameters, message):
    X, y, group = toy()
    with pytest.raises(InputError, match=message):
        FairBatchClassifier(**parameters).fit(X, y, sensitive_features=group)
