"""No name of the code reaches a reader."""

import re

import pytest

from fairsmooth.experiments import everyone, experiments
from fairsmooth.reporting.reproduction_words import in_source_order, in_words


@pytest.mark.parametrize(
    ("evidence", "expected"),
    [
        ("adult: 48,842 rows, 18 columns", "Adult: 48,842 rows, 18 columns"),
        ("max distance 0.01 at alpha = 0.25, 0 at 1.5",
         "largest distance 0.01 at α = 0.25, 0 at 1.5"),
        ("finite in 0 of 20 fits of fairsmooth_d and 20 of 20 of fairsmooth",
         "finite in 0 of 20 fits of FairSmooth-D and 20 of 20 of FairSmooth"),
        ("44.1% (1.0% to 60.0%) over fcrl, 10.0% stated",
         "44.1% (1.0% to 60.0%) over FCRL, 10.0% stated"),
        ("compas-sex, equalized odds sum: 0.1 against 0.2 of Mine@0a1b2c",
         "COMPAS by sex, ΔEO: 0.1 against 0.2 of Mine"),
        ("of 3: 1 holds, 1 no difference, 1 cannot be told",
         "of 3 comparisons 1 hold, 1 show no difference, 1 cannot be told"),
        ("nothing has run", "nothing has run"),
    ],
)  # fmt: skip
def test_evidence_is_put_into_words(evidence, expected):
    assert in_words(evidence) == expected


def test_every_method_and_case_has_words():
    for method in everyone():
        assert in_words(f"of {method.name}") == f"of {method.label}"
    for case in {case for each in experiments() for case in each.cases}:
        assert "-" not in in_words(case)


def test_no_claim_is_told_in_code():
    code = {method.name for method in everyone() if "_" in method.name} | {"aif360", "binned"}
    pattern = re.compile("|".join(rf"\b{name}\b" for name in code))
    for each in experiments():
        for claim in each.claims:
            assert not pattern.search(f"{claim.name} {claim.says}"), claim.name


def test_sources_are_ordered_by_columns_and_new_ones_come_last():
    found = in_source_order(["raw", "binned", "aif360", "binned, published", "printed"])
    assert found == ["printed", "aif360", "binned, published", "binned", "raw"]
