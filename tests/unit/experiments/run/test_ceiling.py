from itertools import product

import numpy as np
import pandas as pd
import pytest

from fairsmooth.datasets import load_adult, load_compas
from fairsmooth.experiments import FAILS, HOLDS, UNKNOWN
from fairsmooth.experiments.claims.ceilings import printed_reachable, sizes_are
from fairsmooth.experiments.run.ceiling import (
    accuracy_ceiling,
    ceilings,
    count_cells,
    fair_ceiling,
)
from fairsmooth.experiments.run.job import Job


def test_ceilings_of_the_few_columns():
    # Found independently, by other code, before this was written.
    assert accuracy_ceiling(count_cells(load_adult("aif360"))) == pytest.approx(0.8044, abs=5e-5)
    assert accuracy_ceiling(count_cells(load_compas("aif360"))) == pytest.approx(0.6747, abs=5e-5)


@pytest.mark.parametrize(
    ("sensitive", "parity", "odds", "best"),
    [("race", 0.03, 2.0, 0.662), ("race", 0.03, 0.01, 0.645), ("sex", 0.11, 0.19, 0.674)],
)
def test_fair_ceilings_of_compas(sensitive, parity, odds, best):
    cells = count_cells(load_compas("aif360", sensitive=sensitive))
    assert fair_ceiling(cells, parity, odds) == pytest.approx(best, abs=6e-4)


def test_without_limits_the_fair_ceiling_is_the_free_one():
    cells = count_cells(load_compas("aif360", sensitive="race"))
    # The group is one of the columns, so the randomised rule can do no better.
    assert fair_ceiling(cells, 1.0, 2.0) == pytest.approx(accuracy_ceiling(cells))


def test_linear_program_against_all_rules_on_a_grid():
    cells = pd.DataFrame(
        {"x": [0, 0, 1, 1], "group": [0, 1, 0, 1], 0: [5, 9, 2, 8], 1: [6, 3, 9, 4]}
    )
    negatives, positives = cells[0].to_numpy(), cells[1].to_numpy()
    rules = np.array(list(product(np.linspace(0, 1, 21), repeat=4)))
    parity, true_positive, false_positive = (
        _gaps(rules, part, cells["group"].to_numpy())
        for part in (negatives + positives, positives, negatives)
    )
    allowed = (parity <= 0.2) & (true_positive + false_positive <= 0.5)
    right = rules @ positives + (1 - rules) @ negatives
    best = right[allowed].max() / (negatives.sum() + positives.sum())
    found = fair_ceiling(cells, 0.2, 0.5)
    # The grid misses the optimum by at most half a step in each of four cells.
    assert best <= found + 1e-9
    assert found == pytest.approx(best, abs=0.02)


def _gaps(rules, counts, group):
    shares = [
        (rules * counts)[:, group == code].sum(axis=1) / counts[group == code].sum()
        for code in (0, 1)
    ]
    return np.abs(shares[0] - shares[1])


def test_job_reports_sizes_and_both_ceilings():
    extra = (("demographic_parity", 0.03), ("equalized_odds_sum", 0.01))
    found = ceilings(Job("ceiling", "compas-race", "aif360", extra=extra), {})["measured"]
    assert (found["rows"], found["columns"]) == (6172, 10)
    assert found["majority"] < found["fair_ceiling"] < found["ceiling"]


def test_claims_on_data():
    rows = pd.DataFrame(
        {
            "case": ["adult-sex"],
            "status": ["done"],
            "rows": [48842],
            "columns": [18],
            "ceiling": 0.8044,
        }
    )
    assert printed_reachable({"adult-sex": 0.84}, "ceiling")(rows).outcome == FAILS
    assert printed_reachable({"adult-sex": 0.80}, "ceiling")(rows).outcome == HOLDS
    assert printed_reachable({"compas-sex": 0.6}, "ceiling")(rows).outcome == UNKNOWN
    assert sizes_are({"adult": (48842, 18)})(rows).outcome == HOLDS
    assert sizes_are({"adult": (48842, 17)})(rows).outcome == FAILS
    assert sizes_are({"compas": (6172, 10)})(rows).outcome == UNKNOWN
