import json
import math

import numpy as np
import pytest
import torch

from fairsmooth.core.certificate import Certificate, certify
from fairsmooth.exceptions import InputError

TWO = [[0.0, 0.0], [0.3, 0.4]]


def test_bounds_by_hand_for_two_groups():
    certificate = certify(TWO, sigma=0.5, groups=["a", "b"])
    assert certificate.max_distance == pytest.approx(0.5, rel=1e-14)
    assert certificate.distances["a"] == pytest.approx(0.25, rel=1e-14)
    assert certificate.epsilon == pytest.approx(0.25 / math.sqrt(2 * math.pi) / 0.5, rel=1e-14)
    assert certificate.epsilon_tight == pytest.approx(math.erf(0.25 / math.sqrt(2)), rel=1e-14)
    assert certificate.n_parameters == 2
    assert certificate.groups == ("a", "b")


def test_bounds_by_hand_for_three_unequal_groups():
    # On a line, at 0, 0 and 3: the mean is 1, so the radii are 1, 1 and 2.
    certificate = certify([[0.0], [0.0], [3.0]], sigma=2.0)
    assert certificate.max_distance == pytest.approx(3.0, rel=1e-14)
    assert list(certificate.distances.values()) == pytest.approx([1.0, 1.0, 2.0], rel=1e-14)
    root = math.sqrt(2 * math.pi)
    assert certificate.epsilon == pytest.approx(2 / 3 * 3.0 / root / 2.0, rel=1e-14)
    tight = [math.erf(r / 4.0 / math.sqrt(2)) for r in (1.0, 1.0, 2.0)]
    assert list(certificate.epsilon_by_group.values()) == pytest.approx(tight, rel=1e-14)
    assert certificate.epsilon_tight == pytest.approx(tight[2], rel=1e-14)


def test_the_paper_s_bound_is_not_the_largest_radius():
    # A triangle: every radius is 1 / √3, less than two thirds of its sides.
    triangle = [[0.0, 0.0], [1.0, 0.0], [0.5, math.sqrt(0.75)]]
    certificate = certify(triangle, sigma=1.0)
    assert certificate.epsilon == pytest.approx(2 / 3 / math.sqrt(2 * math.pi), rel=1e-14)


@pytest.mark.parametrize(
    ("shift", "linear", "tight", "pointwise"),
    [
        (0.05, 0.0199, 0.0199, 0.0085),
        (0.25, 0.0997, 0.0995, 0.0372),
        (1.0, 0.3989, 0.3829, 0.0887),
        (2.0, 0.7979, 0.6827, 0.0995),
    ],
)
def test_values_of_the_table_of_bounds(shift, linear, tight, pointwise):
    certificate = certify([[0.0], [2.0 * shift]], sigma=1.0)
    assert certificate.epsilon_linear_by_group[0] == pytest.approx(linear, abs=5e-5)
    assert certificate.epsilon_by_group[0] == pytest.approx(tight, abs=5e-5)
    assert certificate.interval(0.9, 0)[1] - 0.9 == pytest.approx(pointwise, abs=5e-5)


def test_a_tensor_gives_the_same_certificate_as_an_array():
    assert certify(torch.tensor(TWO, dtype=torch.float64), sigma=0.5) == certify(TWO, sigma=0.5)


def test_equal_groups_give_exactly_zero():
    row = np.random.default_rng(0).normal(size=50)
    certificate = certify([row] * 5, sigma=0.3)
    assert certificate.epsilon == certificate.epsilon_tight == certificate.max_distance == 0.0
    assert (certificate.interval([0.2], 0) == 0.2).all()


def test_ball_is_never_wider_than_the_mean():
    parameters = np.random.default_rng(0).normal(size=(5, 20))
    parameters[0] *= 4.0
    mean, ball = certify(parameters, sigma=1.0), certify(parameters, sigma=1.0, center="ball")
    assert max(ball.distances.values()) < max(mean.distances.values())
    assert max(ball.distances.values()) <= mean.max_distance * math.sqrt(4 / 10) * (1 + 1e-9)


def test_without_smoothing_nothing_is_certified():
    certificate = certify(TWO, sigma=0.0)
    assert certificate.epsilon == math.inf
    assert certificate.epsilon_tight == 1.0
    assert certificate.interval([0.4], 0).tolist() == [[0.0, 1.0]]
    assert "Nothing is certified" in str(certificate)


def test_plain_data_round_trip_survives_json():
    certificate = certify(TWO, sigma=0.5, groups=[("a", 1), ("b", 2)])
    assert Certificate.from_dict(json.loads(json.dumps(certificate.to_dict()))) == certificate
    unsmoothed = certify(TWO, sigma=0.0)
    assert Certificate.from_dict(json.loads(json.dumps(unsmoothed.to_dict()))) == unsmoothed


def test_words_say_what_is_not_certified():
    text = str(certify(TWO, sigma=0.5, groups=["a", "b"]))
    assert "For every input" in text
    assert "It does not say that the groups are treated alike" in text
    assert "It does not say that a group's own classifier is the best" in text


def test_printed_numbers_are_rounded_up():
    text = str(certify([[0.0], [0.1]], sigma=1.0, groups=["a", "b"]))
    assert 0.01990 < math.erf(0.05 / math.sqrt(8)) < 0.01995  # rounding to nearest would say .0199
    assert "a: 0.0200" in text


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"sigma": -0.5}, r"Expected sigma >= 0, got sigma=-0\.5"),
        ({"sigma": math.nan}, "Expected sigma >= 0, got sigma=nan"),
        ({"sigma": 1.0, "center": "median"}, "one of 'mean', 'ball', got center='median'"),
        ({"sigma": 1.0, "groups": ["a"]}, r"groups to have one entry per row .* \(2\), got 1"),
        ({"sigma": 1.0, "groups": ["a", "a"]}, "Expected every group once"),
    ],
)
def test_refuses_bad_arguments(arguments, message):
    with pytest.raises(InputError, match=message):
        certify(TWO, **arguments)


def test_refuses_bad_parameters():
    with pytest.raises(InputError, match=r"shape \(n_groups, n_parameters\), got shape \(2,\)"):
        certify([0.0, 1.0], sigma=1.0)
    with pytest.raises(InputError, match="Expected finite group_parameters"):
        certify([[0.0], [math.nan]], sigma=1.0)


def test_interval_refuses_what_is_no_score():
    certificate = certify(TWO, sigma=1.0)
    with pytest.raises(InputError, match="Expected p between 0 and 1"):
        certificate.interval([1.5], 0)
    with pytest.raises(InputError, match="Expected p between 0 and 1"):
        certificate.interval([math.nan], 0)
    with pytest.raises(InputError, match=r"one of \[0, 1\], got 'z'"):
        certificate.interval([0.5], "z")


def test_from_dict_refuses_what_does_not_fit():
    plain = certify(TWO, sigma=1.0).to_dict()
    with pytest.raises(InputError, match="Expected a certificate as written by"):
        Certificate.from_dict({**plain, "distances": [1.0]})
    del plain["sigma"]
    with pytest.raises(InputError, match="does not fit: 'sigma'"):
        Certificate.from_dict(plain)
