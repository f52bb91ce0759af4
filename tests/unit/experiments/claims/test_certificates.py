"""What is said of certificates, also where none was made."""

import pandas as pd

from fairsmooth.experiments.claims.certificates import bounds_hold
from fairsmooth.experiments.claims.verdict import FAILS, HOLDS, UNKNOWN

CASE = "adult-sex"


def rows(**columns):
    return pd.DataFrame({"case": [CASE] * 2, "method": ["fairsmooth", "fairsmooth_s"], **columns})


def test_bounds_are_compared_with_what_was_measured():
    kept = rows(epsilon_tight=[0.1, 0.2], measured_gap=[0.1, 0.1])
    assert bounds_hold([CASE])(kept).outcome == HOLDS
    assert bounds_hold([CASE])(kept.assign(measured_gap=[0.05, 0.21])).outcome == FAILS


def test_without_methods_that_have_certificates_nothing_can_be_told():
    others = rows().assign(method=["arl", "fcrl"])
    assert bounds_hold([CASE])(others).outcome == UNKNOWN
    assert bounds_hold([CASE])(rows()).outcome == UNKNOWN
