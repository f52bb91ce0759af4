import numpy as np
import pytest
from scipy import stats

from fairsmooth.baselines._kit.row_noise import row_noise


@pytest.fixture(scope="module")
def binary_rows():
    # One-hot data is the hard case for a hash: rows that differ in single bits.
    return ((np.arange(2**13)[:, None] >> np.arange(13)) & 1).astype(np.float64)


def test_noise_is_standard_normal_and_uncorrelated(binary_rows):
    noise = row_noise(binary_rows, 6, seed=1)
    for column in noise.T:
        assert stats.kstest(column, "norm").pvalue > 1e-4
    correlations = np.corrcoef(noise.T) - np.eye(6)
    assert np.abs(correlations).max() < 5 / np.sqrt(len(noise))


def test_neighbouring_rows_have_unrelated_noise(binary_rows):
    noise = row_noise(binary_rows, 1, seed=2)[:, 0]
    for column in binary_rows.T:
        pairs = np.corrcoef(noise[column == 0], noise[column == 1])[0, 1]
        assert abs(pairs) < 5 / np.sqrt(len(noise) / 2)


def test_noise_depends_on_the_row_and_the_seed_only(binary_rows):
    noise = row_noise(binary_rows, 3, seed=3)
    order = np.random.default_rng(0).permutation(len(noise))[:100]
    np.testing.assert_array_equal(row_noise(binary_rows[order], 3, seed=3), noise[order])
    np.testing.assert_array_equal(row_noise(binary_rows, 2, seed=3), noise[:, :2])
    assert np.abs(np.corrcoef(noise[:, 0], row_noise(binary_rows, 1, seed=4)[:, 0])[0, 1]) < 0.06


def test_signs_of_zero_do_not_matter():
    zeros = np.array([[0.0, 1.0], [-0.0, 1.0]])
    noise = row_noise(zeros, 4, seed=0)
    np.testing.assert_array_equal(noise[0], noise[1])
    swapped = row_noise(np.array([[1.0, 0.0]]), 4, seed=0)
    assert np.all(swapped != noise[:1])
