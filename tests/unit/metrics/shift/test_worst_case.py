import numpy as np
import pytest

from fairsmooth.exceptions import InputError
from fairsmooth.metrics.shift.worst_case import BALLS, largest_mean, smallest_mean


@pytest.mark.parametrize("ball", BALLS)
def test_ends(ball):
    values = np.array([0.1, 0.4, 0.4, 0.9])
    assert largest_mean(values, ball=ball, radii=[0.0])[0] == pytest.approx(values.mean())
    assert smallest_mean(values, ball=ball, radii=[0.0])[0] == pytest.approx(values.mean())
    whole = {"chi_square": 3.0, "hellinger": np.sqrt(0.5)}[ball]
    assert largest_mean(values, ball=ball, radii=[whole])[0] == pytest.approx(0.9)
    assert smallest_mean(values, ball=ball, radii=[whole])[0] == pytest.approx(0.1)


@pytest.mark.parametrize("ball", BALLS)
def test_one_value_cannot_move(ball):
    assert largest_mean([0.3, 0.3], ball=ball, radii=[0.5, 1.0]).tolist() == [0.3, 0.3]


@pytest.mark.parametrize("ball", BALLS)
def test_values_too_close_to_square(ball):
    values = np.array([0.0, 1e-300, 1e-200, 0.5])
    ends = (
        largest_mean(values, ball=ball, radii=[0.1]),
        smallest_mean(values, ball=ball, radii=[0.1]),
    )
    assert ends[1][0] < values.mean() < ends[0][0]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([0.1], "wasserstein", [0.1]), "Expected ball to be one of 'chi_square', 'hellinger'"),
        (([], "hellinger", [0.1]), "Expected one or more finite values"),
        (([np.nan], "hellinger", [0.1]), "Expected one or more finite values"),
        (([0.1], "chi_square", [-1.0]), "Expected radius >= 0, got radius=-1.0"),
        (([0.1], "hellinger", [1.5]), r"Expected radius between 0.0 and 1.0, got radius=1.5"),
    ],
)
def test_bad_input(arguments, message):
    values, ball, radii = arguments
    with pytest.raises(InputError, match=message):
        largest_mean(values, ball=ball, radii=radii)
