import numpy as np
import pytest
from scipy.optimize import minimize_scalar
from scipy.special import betaln, xlog1py, xlogy

from fairsmooth.core.contrasts.anytime import anytime_alarm, anytime_bound, log_evidence


def product(counts, q1, q2):
    """Logarithm of M_1(q_1) M_2(q_2), written out."""
    total = 0.0
    for (x, n), q in zip(counts, (q1, q2), strict=True):
        total += betaln(x + 0.5, n - x + 0.5) - betaln(0.5, 0.5) - xlogy(x, q) - xlog1py(n - x, -q)
    return total


@pytest.mark.parametrize("ratio", [False, True])
def test_bound_is_the_worst_of_the_kept_rates(ratio):
    counts = [(30, 200), (45, 220)]
    q = np.linspace(0.001, 0.6, 900)
    first, second = np.meshgrid(q, q, indexing="ij")
    values = product(counts, first, second)
    kept = values < np.log(20)
    if ratio:
        low = min((second / first)[kept].min(), (first / second)[kept].min())
        assert anytime_bound(counts, ratio=True, error=0.05) == pytest.approx(low, abs=0.01)
        assert anytime_bound(counts, ratio=True, error=0.05) <= low
    else:
        high = np.abs(first - second)[kept].max()
        assert anytime_bound(counts, ratio=False, error=0.05) == pytest.approx(high, abs=0.003)
        assert anytime_bound(counts, ratio=False, error=0.05) >= high


def test_evidence_is_the_infimum_over_the_null():
    counts = [(60, 200), (20, 220)]
    table = np.array([60.0, 200.0, 20.0, 220.0])[:, None]
    found = float(log_evidence(table, ratio=False, limit=0.05, above=False)[0])
    edge = minimize_scalar(
        lambda q: product(counts, q + 0.05, q), bounds=(1e-9, 0.949), method="bounded"
    )
    assert found == pytest.approx(edge.fun, abs=1e-5)
    assert found <= edge.fun
    ratio = float(log_evidence(table, ratio=True, limit=0.8, above=True)[0])
    edge = minimize_scalar(
        lambda q: product(counts, q, 0.8 * q), bounds=(1e-9, 1), method="bounded"
    )
    assert ratio == pytest.approx(edge.fun, abs=1e-5)


def test_alarm_and_bound_enclose_the_measured_value():
    counts = [(600, 2000), (200, 2200), (250, 2100)]
    measured = 0.3 - 200 / 2200
    assert anytime_alarm(counts, ratio=False, error=0.05) < measured
    assert measured < anytime_bound(counts, ratio=False, error=0.05)
    ratio = (200 / 2200) / 0.3
    assert anytime_bound(counts, ratio=True, error=0.05) < ratio
    assert ratio < anytime_alarm(counts, ratio=True, error=0.05)


def test_nothing_is_known_of_empty_cells():
    counts = [(0, 0), (3, 10)]
    assert anytime_bound(counts, ratio=False, error=0.05) == 1.0
    assert anytime_bound(counts, ratio=True, error=0.05) == 0.0
    assert anytime_alarm(counts, ratio=False, error=0.05) == 0.0
    assert anytime_alarm(counts, ratio=True, error=0.05) == 1.0
