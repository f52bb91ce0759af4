"""Intervals of all groups at once are those of the certificate, one group at a time."""

import numpy as np
import pytest

from fairsmooth.core import group_intervals
from fairsmooth.core.certificate import certify
from fairsmooth.core.group_intervals import intervals_by_group, own_intervals

EDGES = [0.0, 5e-324, 1e-300, 1e-9, 0.5, 1.0 - 1e-9, 1.0 - 2.0**-53, 1.0]


def one_by_one(certificate, low, high):
    ends = [
        (certificate.interval(low, group)[:, 0], certificate.interval(high, group)[:, 1])
        for group in certificate.groups
    ]
    return np.moveaxis(np.array(ends), 2, 0)


def certificates():
    rng = np.random.default_rng(0)
    far = rng.normal(size=(200, 3)) * np.logspace(-9, 2, 200)[:, None]
    yield certify(far, sigma=0.4)
    yield certify(far, sigma=0.4, slope=1.7, center="ball")
    yield certify(far[:1], sigma=0.4)  # one group is the overall one
    yield certify([[1.0, 2.0], [1.0, 2.0], [4.0, 2.0]], sigma=1.0, parameters=[1.0, 2.0])
    yield certify(far[:3], sigma=0.0)  # nothing is certified
    # So near that the shift is rounded to 0, which is not the same as no distance.
    yield certify([[0.0], [5e-324], [1.0]], sigma=1e10, parameters=[0.0])


@pytest.mark.parametrize("certificate", list(certificates()))
@pytest.mark.parametrize("entries", [1, 1000, 2**16])
def test_all_groups_at_once_to_the_last_digit(certificate, entries, monkeypatch):
    monkeypatch.setattr(group_intervals, "_ENTRIES", entries)
    rng = np.random.default_rng(1)
    scores = np.concatenate([EDGES, rng.random(60), rng.beta(0.05, 0.05, 60)])
    low, high = np.clip(scores - 1e-9, 0.0, 1.0), np.clip(scores + 1e-9, 0.0, 1.0)
    for ends in ((low, high), (scores, scores)):
        found, expected = intervals_by_group(certificate, *ends), one_by_one(certificate, *ends)
        assert found.shape == (len(scores), len(certificate.groups), 2)
        np.testing.assert_array_equal(found, expected)
        codes = rng.integers(0, len(certificate.groups), len(scores))
        mine = own_intervals(certificate, *ends, codes)
        np.testing.assert_array_equal(mine, expected[np.arange(len(scores)), codes])


def test_no_rows_have_no_intervals():
    certificate, nothing = certify(np.eye(3), sigma=1.0), np.empty(0)
    assert intervals_by_group(certificate, nothing, nothing).shape == (0, 3, 2)
    codes = np.empty(0, dtype=np.intp)
    assert own_intervals(certificate, nothing, nothing, codes).shape == (0, 2)
