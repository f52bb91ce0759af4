import numpy as np
import pytest
from scipy.special import ndtr, ndtri

from fairsmooth.training.decisions.calibration import fit_calibration, log_loss


def drawn(slope, offset, n_rows=20_000, seed=0):
    random = np.random.default_rng(seed)
    z = random.normal(size=n_rows)
    y = (random.random(n_rows) < ndtr(slope * z + offset)).astype(np.int64)
    return ndtr(z), y


@pytest.mark.parametrize(("slope", "offset"), [(0.5, -1.0), (2.0, 0.3)])
def test_the_map_that_made_the_labels_is_found(slope, offset):
    found = fit_calibration(*drawn(slope, offset))
    assert found.slope == pytest.approx(slope, rel=0.08)
    assert found.offset == pytest.approx(offset, abs=0.06)


def test_no_other_map_has_less_loss():
    scores, y = drawn(0.8, 0.5, n_rows=2000)
    found = fit_calibration(scores, y)
    least = log_loss(found.apply(scores), y)
    for slope in np.linspace(0.3, 1.6, 14):
        for offset in np.linspace(-0.2, 1.2, 15):
            assert least <= log_loss(ndtr(slope * ndtri(scores) + offset), y) + 1e-5


def test_scores_that_fall_with_the_label_get_the_least_slope():
    scores, y = drawn(1.5, 0.0)
    assert 0.0 < fit_calibration(1.0 - scores, y).slope < 0.01


def test_separated_labels_and_certain_scores_get_a_finite_map():
    scores = np.array([0.0, 0.0, 0.2, 0.8, 1.0, 1.0])
    found = fit_calibration(scores, np.array([0, 0, 0, 1, 1, 1]))
    assert 0.0 < found.slope < 1e3
    assert np.isfinite(found.apply(scores)).all()
