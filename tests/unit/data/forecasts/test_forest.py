import numpy as np
import pytest

from fairsmooth.data.forecasts.forest import Forest, joined, to_probabilities

LEAF = [0.0, 0.0, 0.0, 0.0]
STUMP = np.array([[1, 3, 1, 2, 0], [0, 0, 1, 1, -1.5], [0, 0, 2, 2, 2.5]], dtype=float)


def random_tree(random, n_features, depth):
    """Grow a tree at random, each parent before its children."""
    rows = []

    def grow(left_over):
        own = len(rows)
        rows.append([0.0, 0.0, own, own, random.normal()])
        if left_over and random.random() < 0.8:
            feature, threshold = random.integers(n_features), random.integers(-1, 9)
            rows[own] = [feature, threshold, grow(left_over - 1), grow(left_over - 1), 0.0]
        return own

    grow(depth)
    return np.array(rows, dtype=float)


def by_hand(forest, row):
    """Walk every tree node by node."""
    total = forest.baseline.copy()
    for roots in forest.roots:
        for output, node in enumerate(roots.astype(int)):
            while forest.nodes[node, 2] != node:
                feature, threshold, left, right, _ = forest.nodes[node]
                node = int(left if row[int(feature)] <= threshold else right)
            total[output] += forest.nodes[node, 4]
    return total


@pytest.fixture(scope="module")
def forest():
    random = np.random.default_rng(0)
    trees = [[random_tree(random, 3, depth) for depth in (2, 5)] + [None] for _ in range(40)]
    return joined(trees, np.array([0.1, -0.2, 0.3]))


@pytest.fixture(scope="module")
def levels():
    return np.random.default_rng(1).integers(0, 10, (50, 3)).astype(np.int16)


def test_scores_are_those_of_a_walk_by_hand(forest, levels):
    expected = np.array([by_hand(forest, row) for row in levels])
    np.testing.assert_array_equal(forest.scores(levels), expected)


def test_the_scores_of_a_row_do_not_depend_on_the_rows_beside_it(forest, levels):
    many = np.repeat(levels, 2000, axis=0)
    alone = np.vstack([forest.scores(levels[[place]]) for place in range(len(levels))])
    np.testing.assert_array_equal(forest.scores(many)[::2000], alone)


def test_no_rows_have_no_scores(forest):
    assert forest.scores(np.zeros((0, 3), dtype=np.int16)).shape == (0, 3)


@pytest.mark.parametrize("n_rounds", [1, 7, 40])
def test_the_first_rounds_alone(forest, levels, n_rounds):
    cut = forest.first(n_rounds)
    expected = forest.baseline + sum(list(forest.rounds(levels))[:n_rounds])
    np.testing.assert_allclose(cut.scores(levels), expected, rtol=1e-14, atol=1e-14)
    assert cut.n_rounds == n_rounds
    assert len(cut.nodes) <= len(forest.nodes)
    again = Forest.from_tensors(cut.tensors(), n_features=3, n_classes=3)
    np.testing.assert_array_equal(again.scores(levels), cut.scores(levels))


def test_later_nodes_are_left_out(forest):
    assert len(forest.first(1).nodes) < len(forest.nodes) / 4


def test_probabilities_of_two_classes_come_from_log_odds():
    found = to_probabilities(np.array([[0.0], [1.0], [-800.0], [800.0]]))
    np.testing.assert_allclose(found[:, 1], [0.5, 1 / (1 + np.exp(-1)), 0.0, 1.0], atol=1e-15)
    np.testing.assert_allclose(found.sum(axis=1), 1.0)


def test_probabilities_of_more_are_a_softmax():
    scores = np.random.default_rng(0).normal(size=(5, 4)) * 300
    found = to_probabilities(scores)
    np.testing.assert_allclose(found.sum(axis=1), 1.0)
    assert (found.argmax(axis=1) == scores.argmax(axis=1)).all()


def stump(**changes):
    tensors = {"nodes": STUMP.copy(), "roots": np.zeros((1, 1)), "baseline": np.zeros(1)}
    for name, (place, value) in changes.items():
        tensors[name][place] = value
    return tensors


def test_an_honest_stump_is_read():
    forest = Forest.from_tensors(stump(), n_features=2, n_classes=2)
    np.testing.assert_array_equal(
        forest.scores(np.array([[9, 3], [0, 4]], dtype=np.int16)).ravel(), [-1.5, 2.5]
    )


@pytest.mark.parametrize(
    ("changes", "match"),
    [
        ({"nodes": ((0, 0), 2)}, "a feature that is not there"),
        ({"nodes": ((0, 0), -1)}, "a feature that is not there"),
        ({"nodes": ((0, 0), 0.5)}, "a feature that is not there"),
        ({"nodes": ((0, 1), 2.0**15)}, "a threshold that is no level"),
        ({"nodes": ((0, 1), -2)}, "a threshold that is no level"),
        ({"nodes": ((0, 2), 3)}, "leads outside the forest"),
        ({"nodes": ((0, 3), -1)}, "leads outside the forest"),
        ({"nodes": ((0, 3), 1.5)}, "leads outside the forest"),
        ({"nodes": ((1, 2), 0)}, "leads back"),
        ({"nodes": ((0, 2), 0)}, "leads back"),
        ({"nodes": ((2, 3), 1)}, "leads back"),
        ({"nodes": ((1, 4), np.nan)}, "something else than finite float64"),
        ({"nodes": ((1, 4), 1e10)}, "no log-odds"),
        ({"baseline": (0, -1e10)}, "no log-odds"),
        ({"baseline": (0, np.inf)}, "something else than finite float64"),
        ({"roots": ((0, 0), 3)}, "a root of a forest outside its nodes"),
        ({"roots": ((0, 0), -1)}, "a root of a forest outside its nodes"),
        ({"roots": ((0, 0), 0.5)}, "a root of a forest outside its nodes"),
    ],
)
def test_nodes_that_lead_astray_are_refused(changes, match):
    with pytest.raises(ValueError, match=match):
        Forest.from_tensors(stump(**changes), n_features=2, n_classes=2)


@pytest.mark.parametrize(
    ("name", "array", "match"),
    [
        ("nodes", np.zeros((0, 5)), r"nodes of a forest of shape \(0, 5\)"),
        ("nodes", np.zeros((1, 4)), r"nodes of a forest of shape \(1, 4\)"),
        ("nodes", np.zeros(5), r"nodes of a forest of shape \(5,\)"),
        ("nodes", STUMP.astype(np.float32), "finite float64"),
        ("roots", np.zeros((1, 2)), r"roots of a forest of shape \(1, 2\) for 1 outputs"),
        ("roots", np.zeros((0, 1)), r"roots of a forest of shape \(0, 1\)"),
        ("roots", np.zeros((100_001, 1)), "roots of a forest of shape"),
        ("baseline", np.zeros(2), r"a baseline of shape \(2,\) for 1 outputs"),
    ],
)
def test_arrays_of_another_shape_are_refused(name, array, match):
    with pytest.raises(ValueError, match=match):
        Forest.from_tensors(stump() | {name: array}, n_features=2, n_classes=2)


def test_an_array_must_be_there():
    tensors = stump()
    del tensors["roots"]
    with pytest.raises(ValueError, match="no array 'roots' of a forest"):
        Forest.from_tensors(tensors, n_features=2, n_classes=2)


def test_a_chain_without_end_is_refused():
    """A hostile file could otherwise ask for as many steps as it has nodes."""
    n = 1100
    own = np.arange(n)
    nodes = np.zeros((n, 5))
    nodes[:, 2] = np.minimum(own + 1, n - 1)
    nodes[:, 3] = n - 1
    with pytest.raises(ValueError, match="more than 1000 levels"):
        Forest.from_tensors(stump() | {"nodes": nodes}, n_features=2, n_classes=2)
