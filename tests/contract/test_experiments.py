"""What every experiment promises."""

from collections import Counter
from pathlib import Path

import pytest

from fairsmooth.experiments import (
    ENCODINGS,
    FAILS,
    HOLDS,
    PROFILES,
    SAME,
    UNKNOWN,
    Store,
    everyone,
    experiments,
    profile,
    read_printed,
    rows_of,
)
from fairsmooth.experiments.declaration import KINDS
from fairsmooth.experiments.run.field import N_CANDIDATES, taking_part
from fairsmooth.experiments.run.plan import points_of
from fairsmooth.reporting.claims import answer_claims

EXPERIMENTS = {experiment.name: experiment for experiment in experiments()}
OUTCOMES = {HOLDS, FAILS, SAME, UNKNOWN}
PAGE = Path(__file__).parents[2] / "docs" / "reproducing.md"

everywhere = pytest.mark.parametrize("experiment", EXPERIMENTS.values(), ids=EXPERIMENTS)
NAMES = [method.name for method in everyone()]
every_method = pytest.mark.parametrize("method", everyone(), ids=NAMES)


def test_the_papers_tables_and_figures_are_there():
    tables = [f"table{number}" for number in range(1, 5)]
    figures = [f"figure{number}" for number in range(1, 6)]
    paper = [name for name, experiment in EXPERIMENTS.items() if experiment.paper]
    assert paper == [*tables, *figures, "ceilings", "draws"]
    assert list(EXPERIMENTS) == [*paper, "readings", "tradeoff"]


@everywhere
def test_declaration_is_complete(experiment):
    assert experiment.about.endswith(".")
    assert experiment.kind in KINDS
    assert {method.name for method in taking_part(experiment)} <= set(NAMES)
    assert experiment.claims
    names = Counter(claim.name for claim in experiment.claims)
    assert max(names.values()) == 1
    assert all(claim.says.endswith(".") for claim in experiment.claims)


@everywhere
def test_printed_numbers_can_be_read(experiment):
    printed = read_printed(experiment.printed)
    assert set(printed["case"]) <= set(experiment.cases)
    assert set(printed["method"]) <= set(NAMES)
    numbers = printed.select_dtypes("number")
    assert ((numbers >= 0) & (numbers <= 2)).all(axis=None)


@everywhere
def test_claims_answer_without_rows_and_from_printed_numbers(experiment, tmp_path):
    nothing = rows_of(experiment, profile("smoke"), Store(tmp_path))
    for answers in answer_claims(experiment, nothing):
        assert {verdict.outcome for verdict in answers.verdicts.values()} <= OUTCOMES
        if answers.claim.printed:
            assert answers.verdicts["printed"].outcome != UNKNOWN


@everywhere
@pytest.mark.parametrize("budget", PROFILES, ids=lambda budget: budget.name)
def test_every_profile_plans_rows_for_every_case(experiment, budget):
    points = points_of(experiment, budget)
    assert {point.job.case for point in points} == set(experiment.cases)
    # The trade-off learns its own columns from the raw ones; readings have a third source.
    assert {point.job.encoding for point in points} <= {*ENCODINGS, "raw", "aif360-blind"}
    assert len({(p.job, p.method, p.axis, p.value, p.track) for p in points}) == len(points)
    if experiment.kind == "fit":
        names = {method.name for method in taking_part(experiment)}
        assert {point.method for point in points} == names


@every_method
def test_every_method_has_the_same_number_of_candidates(method):
    assert len(method.grid) == N_CANDIDATES
    assert len({str(candidate) for candidate in method.grid}) == N_CANDIDATES


@every_method
@pytest.mark.parametrize("quick", [False, True], ids=["full", "quick"])
def test_every_candidate_is_one_the_method_knows(method, quick):
    for candidate in method.grid:
        model = method.build(candidate, seed=7, quick=quick)
        assert model.random_state == 7
        assert candidate.items() <= model.get_params(deep=False).items()


def test_the_documentation_names_every_experiment():
    text = PAGE.read_text()
    assert [name for name in EXPERIMENTS if f"`{name}`" not in text] == []
