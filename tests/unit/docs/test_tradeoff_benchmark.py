import importlib.util
import json
import sys
from pathlib import Path

import pytest

from fairsmooth.experiments.beyond.tradeoff import LIMITS, OURS, REDUCTION, sighted

ROOT = Path(__file__).parents[3]


def loaded(folder, name):
    spec = importlib.util.spec_from_file_location(f"{folder}_{name}", ROOT / folder / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def benchmark():
    sys.path.insert(0, str(ROOT / "benchmarks"))
    try:
        return loaded("benchmarks", "tradeoff")
    finally:
        sys.path.pop(0)


def swept(accuracy, dp, eo, method=REDUCTION, setting="compas sex"):
    figures = {"accuracy": accuracy, "demographic_parity": dp, "equalized_odds_sum": eo}
    return {"setting": setting, "method": method, "axis": "bound", "value": 0.1, **figures}


def majority(setting="compas sex"):
    row = swept(0.5, 0.0, 0.0, method="majority", setting=setting)
    return {name: value for name, value in row.items() if name not in ("axis", "value")}


def test_the_front_is_the_best_mixture_within_the_gaps(benchmark):
    rows = [majority(), swept(0.7, 0.1, 0.1), swept(0.6, 0.01, 0.2), swept(0.9, 0.1, 0.1, OURS)]
    assert benchmark.front_at(rows, "compas sex", [0.05, 0.05], told=False) == 0.6
    assert benchmark.front_at(rows, "compas sex", [1.0, 1.0], told=False) == 0.7
    # Both limits bind: 7/19 of the second, and of the first what the first limit leaves.
    second = 7 / 19
    first = (0.05 - 0.01 * second) / 0.1
    mixed = benchmark.front_at(rows, "compas sex", [0.05, 0.12], told=False)
    assert mixed == pytest.approx(0.5 + 0.2 * first + 0.1 * second, abs=1e-4)


def test_without_a_sweep_there_is_no_front(benchmark):
    assert benchmark.front_at([majority()], "compas sex", [0.1, 0.1], told=False) is None


def test_goals_are_asked_of_what_was_chosen(benchmark):
    rows = [majority(), swept(0.7, 0.1, 0.1)]
    chosen = {**majority(), "method": OURS, "accuracy": 0.62}
    told = {**majority(), "method": sighted(OURS, told=True), "accuracy": 0.6}
    found = {goal.name: goal for goal in benchmark.goals([*rows, chosen, told])}
    assert found["compas sex, the reductions' front at our gaps: accuracy"].holds
    assert not found["compas sex †: accuracy"].holds
    assert found["compas sex: ΔDP"].goal == LIMITS["compas-sex"]["demographic_parity"]


def test_the_published_run_is_on_fresh_splits_and_whole():
    rows = json.loads((ROOT / "results" / "tradeoff.json").read_text(encoding="utf-8"))["rows"]
    ours = [row for row in rows if row.get("method") == OURS and "axis" not in row]
    assert [row["splits"] for row in ours] == [10] * len(LIMITS)


def test_the_picture_has_a_panel_per_setting():
    tool = loaded("tools", "draw_tradeoff")
    rows = json.loads((ROOT / "results" / "tradeoff.json").read_text(encoding="utf-8"))["rows"]
    panels = tool.figure(rows).axes
    assert len(panels) == len(LIMITS)
    assert all(OURS in axes.get_legend_handles_labels()[1] for axes in panels)
