import numpy as np
import pytest

from fairsmooth.data.forecasts.joint import joint_forecasts, linear_map, to_columns


def drawn(n_groups, n=30, seed=0):
    joint = np.random.default_rng(seed).dirichlet(np.ones(2 * n_groups), n)
    return joint.reshape(n, n_groups, 2)


@pytest.mark.parametrize("n_groups", [2, 3, 6])
def test_columns_and_back(n_groups):
    joint = drawn(n_groups)
    for reference in range(n_groups):
        columns = to_columns(joint, reference)
        matrix, offset = linear_map(n_groups, reference)
        assert columns.shape == (30, 2 * n_groups - 1)
        found = (columns @ matrix + offset).reshape(joint.shape)
        np.testing.assert_allclose(found, joint, atol=1e-15)


@pytest.mark.parametrize("n_groups", [2, 4])
def test_every_rule_on_the_forecasts_is_linear_in_the_columns(n_groups):
    """Gain less multipliers times rates: any weights of the 2K forecasts, and an intercept."""
    joint = drawn(n_groups)
    weights = np.random.default_rng(1).normal(size=(n_groups, 2))
    wanted = (joint * weights).sum(axis=(1, 2))
    columns = np.column_stack([to_columns(joint, 0), np.ones(30)])
    solution, *_ = np.linalg.lstsq(columns, wanted, rcond=None)
    np.testing.assert_allclose(columns @ solution, wanted, atol=1e-12)
    # None is to spare: the columns and the intercept are independent.
    assert np.linalg.matrix_rank(columns) == 2 * n_groups


def test_joint_forecasts_have_the_forecasts_as_margins():
    random = np.random.default_rng(0)
    label = random.dirichlet([1, 1], 20)
    group = [random.dirichlet([1, 1, 1], 20) for _ in (0, 1)]
    joint = joint_forecasts(label, group)
    np.testing.assert_allclose(joint.sum(axis=1), label, atol=1e-15)
    for y in (0, 1):
        np.testing.assert_allclose(joint[:, :, y] / label[:, [y]], group[y], atol=1e-14)
