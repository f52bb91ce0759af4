import mpmath
import numpy as np
import pytest

from fairsmooth.core.calibration import Calibration
from fairsmooth.exceptions import InputError

MAPS = [(1.0, 0.0), (0.2, -1.5), (3.0, 0.7), (1e-3, 2.0), (40.0, -3.0)]


def exact(p, slope, offset):
    """Return Φ(aΦ⁻¹(p) + b) with ninety digits."""
    with mpmath.workdps(90):
        guess = mpmath.sqrt(2) * mpmath.erfinv(2 * mpmath.mpf(p) - 1)
        return mpmath.ncdf(mpmath.mpf(slope) * guess + mpmath.mpf(offset))


@pytest.mark.parametrize(("slope", "offset"), MAPS)
def test_the_outward_map_encloses_the_exact_one_and_the_plain_one(slope, offset):
    scores = np.array([1e-30, 1e-20, 1e-6, 0.1, 0.5, 0.75, 0.999, 1.0 - 2.0**-53])
    calibration = Calibration(slope, offset)
    low, high = calibration.outward(scores, scores)
    for p, mapped, below, above in zip(scores, calibration.apply(scores), low, high, strict=True):
        assert mpmath.mpf(below) <= exact(p, slope, offset) <= mpmath.mpf(above)
        assert below <= mapped <= above
        assert above - below <= 1e-9


def test_ends_stay_and_order_is_kept():
    calibration = Calibration(0.7, 0.4)
    scores = np.concatenate([[0.0], np.linspace(1e-9, 1.0 - 1e-9, 1001), [1.0]])
    mapped = calibration.apply(scores)
    assert mapped[0] == 0.0
    assert mapped[-1] == 1.0
    assert (np.diff(mapped) > 0.0).all()
    low, high = calibration.outward(scores, scores)
    assert (low[0], high[-1]) == (0.0, 1.0)
    assert low[-1] <= 1.0 <= high[-1]
    assert high[0] >= 0.0


def test_a_half_goes_where_the_offset_says():
    assert Calibration(2.5, 0.3).half == pytest.approx(float(mpmath.ncdf(0.3)), abs=1e-15)


@pytest.mark.parametrize(("slope", "offset", "message"), [
    (0.0, 0.0, "Expected slope > 0"),
    (-1.0, 0.0, "Expected slope > 0"),
    (np.inf, 0.0, "Expected slope > 0"),
    (1.0, np.nan, "Expected a finite slope and offset"),
])  # fmt: skip
def test_a_map_that_is_not_rising_or_not_finite_is_refused(slope, offset, message):
    with pytest.raises(InputError, match=message):
        Calibration(slope, offset)
