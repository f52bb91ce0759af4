"""Arrays that nobody vouches for: either refused by both readers, or evaluated to the end."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from fairsmooth.data.forecasts.forest import Forest
from fairsmooth.exceptions import ModelFileError
from fairsmooth.verify._forecasters import Forecasters, check_forecasters

N_INPUTS = 3
ENTRY = st.one_of(
    st.integers(-2, 8).map(float), st.sampled_from([0.5, 1e300, -1e300, 2.0**15, 2.0**53])
)


@st.composite
def arrays(draw):
    """Honest trees, with at most two entries changed to something else."""
    n_nodes = draw(st.integers(1, 6))
    nodes = np.zeros((n_nodes, 5))
    for place in range(n_nodes):
        nodes[place, 2:4] = place
        if place + 1 < n_nodes and draw(st.booleans()):
            children = st.integers(place + 1, n_nodes - 1)
            nodes[place, :4] = draw(
                st.tuples(st.integers(0, N_INPUTS - 1), st.integers(-1, 9), children, children)
            )
        nodes[place, 4] = draw(st.floats(-30, 30))
    roots = np.array([[float(draw(st.integers(0, n_nodes - 1)))]])
    for _ in range(draw(st.integers(0, 2))):
        place = draw(st.integers(0, nodes.size))
        array = roots if place == nodes.size else nodes
        array.flat[place % nodes.size] = draw(ENTRY)
    return {"nodes": nodes, "roots": roots, "baseline": np.zeros(1)}


def accepted_by_the_library(tensors):
    try:
        return Forest.from_tensors(tensors, n_features=N_INPUTS, n_classes=2)
    except ValueError:
        return None


def accepted_by_the_verifier(tensors):
    try:
        named = {f"forecast.label.{name}": array for name, array in tensors.items()}
        return check_forecasters(Forecasters(N_INPUTS, 0), named).holds
    except ModelFileError:
        return False


@settings(max_examples=400)
@given(tensors=arrays(), seed=st.integers(0, 100))
def test_what_is_accepted_can_be_evaluated_and_both_readers_agree(tensors, seed):
    forest = accepted_by_the_library(tensors)
    assert accepted_by_the_verifier(tensors) == (forest is not None)
    if forest is not None:
        levels = np.random.default_rng(seed).integers(-1, 2**15, (4, N_INPUTS)).astype(np.int16)
        found = forest.probabilities(levels)
        assert np.isfinite(found).all()
        np.testing.assert_allclose(found.sum(axis=1), 1.0)
        arrived = forest.first(1)
        np.testing.assert_array_equal(arrived.scores(levels), forest.scores(levels))


def test_the_strategy_draws_both_kinds():
    """A property of refused arrays alone would say nothing, nor would one of accepted ones."""
    found = []

    @settings(max_examples=100, database=None)
    @given(tensors=arrays())
    def judge(tensors):
        found.append(accepted_by_the_library(tensors) is not None)

    judge()
    assert 20 < sum(found) < len(found) - 20
