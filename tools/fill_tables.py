"""Make the tables of README and docs from results and declarations, so that none is typed."""

import json
import math
import re
from collections.abc import Callable
from pathlib import Path
from statistics import mean
from typing import Any

import pandas as pd

from fairsmooth.datasets import datasets
from fairsmooth.experiments import everyone, experiments

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "results"
_KNOWN = (
    "FairSmooth, decisions",
    "ExponentiatedGradient, swept",
    "LogisticRegression",
    "Gradient boosting",
    "ceiling, any rule of the forecasts",
)
SETTINGS = ("adult sex", "adult race", "compas sex", "compas race")
MEASURES = ("accuracy", "demographic_parity", "equalized_odds_sum")
PAGES = (ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md")))


def tradeoff_short() -> str:
    """Return accuracy / ΔDP / ΔEO of what a reader knows, group-blind, and of the best there is."""
    rows = [row for row in _tradeoff() if row["method"] in _KNOWN]
    settings = list(dict.fromkeys(row["setting"] for row in rows))
    cells = {(row["method"], row["setting"]): row for row in rows}
    lines = [
        [method, *(_triple(cells[method, setting]) for setting in settings)]
        for method in dict.fromkeys(row["method"] for row in rows)
    ]
    return _table(["accuracy / ΔDP / ΔEO", *settings], lines)


def speed() -> str:
    """Return what the benchmarks of speed reached, one line each."""
    lines = [
        [what, _times(_goal(name, goal)), f"`benchmarks/{name}.py`"] for what, name, goal in _SPEED
    ]
    return _table(["what", "measured", "by"], lines)


_SPEED = (
    ("fit on Adult, against LogisticRegression: times its time", "training",
     "fit, times LogisticRegression"),
    ("fit on Adult, against fairlearn's ExponentiatedGradient: times faster", "training",
     "ExponentiatedGradient, times our fit"),
    ("exact smoothing, linear, against 100,000 draws: times faster", "smoothing",
     "times faster, 100-1 sigma=0.5"),
    ("the same, one hidden layer of 64", "smoothing", "times faster, 100-64-1 sigma=0.5"),
    ("the decision on one row, against LogisticRegression: times its time", "startup",
     "one row, times LogisticRegression"),
    ("audit of 100,000 rows with intervals and shifts: seconds", "audit",
     "audit of 100000 rows, 2 groups, seconds"),
)  # fmt: skip


def _goal(name: str, goal: str) -> float:
    return next(one["value"] for one in _results(name)["goals"] if one["name"] == goal)


def _times(value: float) -> str:
    return f"{value:.1f}" if value < 100 else f"{value:.0f}"


def tradeoff_full() -> str:
    """Return one line per setting and method, with standard errors and certificate."""
    inner = ("inner_demographic_parity", "inner_equalized_odds_sum")
    names = (*MEASURES, *inner, "within", "epsilon", "free_distance", "free_epsilon")
    lines = [
        [row["setting"], row["method"], *(_with_error(row, name) for name in names)]
        for row in sorted(_tradeoff(), key=lambda row: SETTINGS.index(row["setting"]))
    ]
    header = ["setting", "method", "accuracy", "ΔDP", "ΔEO", "expected ΔDP", "expected ΔEO"]
    return _table([*header, "within", "ε", "to the free", "that is, in scores"], lines)


def tradeoff_goals() -> str:
    """Return every goal with what was reached."""
    return _goals("tradeoff")


def tradeoff_first() -> str:
    """Return the same of the run that was published before."""
    return _goals("tradeoff_first")


def _goals(results: str) -> str:
    lines = [
        [
            goal["name"],
            f"{goal['direction']} {goal['goal']}",
            f"{goal['value']}",
            "yes" if goal["holds"] else "no",
        ]
        for goal in _results(results)["goals"]
    ]
    return _table(["goal", "limit", "reached", "met"], lines)


def table1_adult() -> str:
    """Return the first table of the reproduction's page."""
    page = (RESULTS / "reproduce" / "index.md").read_text(encoding="utf-8")
    section = page.split("### Adult, sex\n\n", 1)[1]
    return section.split("\n\n", 1)[0]


def small_alpha() -> str:
    """Return accuracy / ΔDP / ΔEO and ε of FairSmooth by α, all useful columns, σ 1."""
    rows = pd.read_parquet(RESULTS / "reproduce" / "rows.parquet")
    swept = rows[(rows["axis"] == "alpha") & (rows["encoding"] == "binned")]
    names = [*MEASURES, "epsilon"]
    means = swept.groupby(["value", "case"])[names].mean()
    cases = list(dict.fromkeys(swept["case"]))
    lines = [
        [f"{alpha:g}", *(cell for case in cases for cell in _alpha_cells(means, alpha, case))]
        for alpha in sorted(swept["value"].unique())
    ]
    control = rows[(rows["method"] == "unconstrained") & (rows["encoding"] == "binned")]
    control = control[control["axis"] == ""].groupby("case")[list(MEASURES)].mean()
    own = [[_triple(dict(control.loc[case])), "–"] for case in cases]
    lines.append(["logistic regression", *(cell for pair in own for cell in pair)])
    header = [name for case in cases for name in (case.replace("-", " "), "ε")]
    return _table(["α", *header], lines)


def _alpha_cells(means: pd.DataFrame, alpha: float, case: str) -> list[str]:
    row = dict(means.loc[(alpha, case)])
    return [_triple(row), f"{row['epsilon']:.3f}"]


def verdicts() -> str:
    """Return how many of the paper's claims got which verdict, by what they were asked of."""
    found = json.loads((RESULTS / "reproduce" / "summary.json").read_text(encoding="utf-8"))[
        "claims"
    ]
    outcomes = list(dict.fromkeys(name for counts in found.values() for name in counts))
    lines = [
        [source, *(str(counts[outcome]) for outcome in outcomes)]
        for source, counts in found.items()
    ]
    return _table(["asked of", *outcomes], lines)


def baselines() -> str:
    """Return what every method comes to on both datasets: means over the seeds."""
    trials = json.loads((RESULTS / "baselines.json").read_text(encoding="utf-8"))["rows"]
    names = (*MEASURES, "cpu_seconds")
    lines = []
    for case, method in dict.fromkeys((row["case"], row["method"]) for row in trials):
        own = [row for row in trials if (row["case"], row["method"]) == (case, method)]
        means = [mean(row[name] for row in own) for name in names]
        lines.append([case, method, *map(_short, means[:-1]), f"{means[-1]:.1f}"])
    return _table(["case", "method", "accuracy", "ΔDP", "ΔEO", "seconds"], lines)


def methods() -> str:
    """Return every method as it declares itself."""
    lines = []
    for each in everyone():
        page = each.page or f"{each.name}.md"
        sees = "as published" if each.needs_group_at_prediction else "no"
        link = f"[{Path(page).stem}]({page})"
        words = [each.optimises, each.notions, each.guarantees, sees, link]
        lines.append([f"`{each.name}`", each.label, *words])
    names = ["name", "label", "optimises", "notions", "guarantees"]
    return _table([*names, "sees the group when predicting", "page"], lines)


def data() -> str:
    """Return every dataset as it declares itself."""
    lines = [
        [
            f"`{each.name}`",
            each.description,
            each.label,
            ", ".join(each.sensitive),
            ", ".join(each.available),
            each.reference,
        ]
        for each in datasets()
    ]
    return _table(["name", "rows", "label 1", "sensitive", "encodings", "source"], lines)


def evaluation() -> str:
    """Return every experiment as it declares itself."""
    lines = [
        [f"`{each.name}`", each.paper or "beyond it", each.about.rstrip(".")]
        for each in experiments()
    ]
    return _table(["name", "in the paper", "what"], lines)


def guarantee_bounds() -> str:
    """Return the bounds of every case without a shift, and of the gap after one."""
    rows = _results("guarantee")["rows"]
    plain = [row for row in rows if row.get("shift") == "none"]
    moved = [
        row
        for row in rows
        if row.get("shift") == "hellinger"
        and row["quantity"] == "demographic_parity"
        and row["radius"] < 0.1
    ]
    names = ("measured", "exact", "boxes", "hoeffding", "student_t", "kang")
    lines = []
    for row in [*plain, *moved]:
        shift = "–" if row["shift"] == "none" else f"Hellinger {_short(row['radius'])}"
        numbers = ["–" if row[name] is None else f"{row[name]:.4f}" for name in names]
        share = f"{row['excess_share_of_boxes']:.3f}"
        lines.append([row["case"], row["quantity"], shift, *numbers, share])
    header = ["case", "quantity", "shift", "measured", "exact", "boxes", "Hoeffding", "Student's t"]
    return _table([*header, "Kang et al.", "excess / boxes'"], lines)


def guarantee_goals() -> str:
    """Return every goal of the four benchmarks with what was reached."""
    names = ("guarantee", "coverage", "train_guarantee", "guaranteed_accuracy")
    found = [goal for name in names for goal in _results(name)["goals"]]
    lines = [
        [
            goal["name"].strip(),
            f"{goal['direction']} {goal['goal']:.3g}",
            f"{goal['value']:.4g}",
            "yes" if goal["holds"] else "no",
        ]
        for goal in found
    ]
    return _table(["goal", "limit", "reached", "met"], lines)


def train_guarantee() -> str:
    """Return how often training to a guarantee returns a model, and how often a wrong one."""
    lines = []
    for row in _results("train_guarantee")["rows"]:
        gaps = [row["mean_true_gap"], row["largest_true_gap"]]
        lines.append(
            [
                f"{row['rows']:,}",
                f"{row['limit']:.2f}",
                f"{row['aim']:.1f}",
                str(row["repetitions"]),
                f"{row['returned']:.2f}",
                f"{row['wrong']:.4f}",
                *("–" if gap is None else f"{gap:.4f}" for gap in gaps),
            ]
        )
    header = ["rows", "limit", "aim", "repetitions", "returned", "wrong", "mean true gap"]
    return _table([*header, "largest true gap"], lines)


def guaranteed_accuracy() -> str:
    """Return what each method guarantees on Adult: return rate, accuracy and gap."""
    rows = [row for row in _results("guaranteed_accuracy")["rows"] if "splits" in row]
    lines = []
    for row in sorted(rows, key=lambda row: (-row["limit"], row["method"])):
        accuracy = "–" if row["accuracy"] is None else f"{row['accuracy']:.4f}"
        lines.append(
            [
                f"{row['limit']:.2f}",
                row["method"],
                str(row["splits"]),
                f"{row['returned']:.2f}",
                accuracy,
                f"{row['accuracy_all']:.4f}",
                f"{row['gap']:.4f}",
                f"{row['largest_gap']:.4f}",
                f"{row['cpu_seconds']:.0f}",
            ]
        )
    header = ["limit", "method", "splits", "returned", "accuracy", "accuracy, all splits"]
    return _table([*header, "gap of decisions", "largest", "seconds"], lines)


def attack_linear() -> str:
    """Return what the attack finds and proves for random linear models, by kind."""
    rows = [row for row in _results("attack")["rows"] if "models" in row]
    shares = ("least share searched", "least share proved")
    lines = [
        [
            row["models"],
            str(row["number"]),
            # Cut off, not rounded: a share that is not reached is not shown as reached.
            *(f"{math.floor(row[name] * 1e4) / 1e4:.4f}" for name in shares),
            str(row["proved to 99 %"]),
            f"{row['longest seconds']:.2f}",
        ]
        for row in rows
    ]
    header = ["models", "number", "least share of the supremum searched", "least share proved"]
    return _table([*header, "proved to 99 %", "longest, seconds"], lines)


def attack_networks() -> str:
    """Return what the search finds for networks in the time that it is granted."""
    lines = [
        [
            row["network"],
            f"{row['seconds granted']:.0f}",
            f"{row['seconds used']:.1f}",
            _short(row["largest gap"]),
            f"{row['share of bound']:.2f}",
        ]
        for row in _results("attack")["rows"]
        if "network" in row
    ]
    return _table(["network", "seconds granted", "used", "largest gap", "share of bound"], lines)


def forecasts_quality() -> str:
    """Return log loss, calibration and seconds of the forecasts."""
    rows = _forecasts()
    lines = [
        [
            row["setting"],
            row["booster"],
            *(
                f"{row[f'{what}_log_loss_out_of_fold']:.4f} / {row[f'{what}_log_loss_test']:.4f}, "
                f"{row[f'{what}_slope_out_of_fold']:.2f} / {row[f'{what}_slope_test']:.2f}"
                for what in ("label", "group")
            ),
            f"{row['seconds']:.1f} / {row['regression_seconds']:.2f}",
        ]
        for row in rows
    ]
    header = ["setting", "booster", "label: log loss out of fold / test, slope", "group: the same"]
    return _table([*header, "seconds / one regression"], lines)


def forecasts_worth() -> str:
    """Return what rules of both forecasts, of the label's and without limits reach."""
    lines = [
        [
            row["setting"],
            *(
                " / ".join(_short(row[f"{what}_{name}"]) for name in ("accuracy", "dp", "eo"))
                for what in ("free", "label", "both")
            ),
        ]
        for row in _forecasts()
        if row["booster"] == "sklearn"
    ]
    return _table(["setting", "no limits", "label's forecast alone", "label and group"], lines)


def _forecasts() -> list[dict[str, Any]]:
    """Return one row per setting and booster: the benchmark prints three tables of them."""
    joined: dict[tuple[str, str], dict[str, Any]] = {}
    for row in _results("forecasts")["rows"]:
        joined.setdefault((row["setting"], row["booster"]), {}).update(row)
    return list(joined.values())


def tuning() -> str:
    """Return what a search said of its choice beside what the test rows say."""
    lines = [
        [
            row["case"],
            str(row["seed"]),
            row["gap"].replace("_", " "),
            f"{row['judged']:.3f} [{row['low']:.3f}, {row['high']:.3f}]",
            f"{row['tested']:.3f}",
            "yes" if row["within"] else "no",
            f"{row['one_hold_out']:.3f}",
        ]
        for row in _results("tuning")["rows"]
        if "within" in row
    ]
    header = ["case", "seed", "gap", "judged", "tested", "within", "one hold-out"]
    return _table(header, lines)


def tuning_bandwidth() -> str:
    """Return the gaps of the parity term's surrogate and of decisions, by bandwidth."""
    lines = [
        [f"{row['bandwidth']:g}", *(_gaps(row[kind]) for kind in ("surrogate", "decisions")),
         str(row["iterations"])]
        for row in _results("tuning")["rows"]
        if "bandwidth" in row
    ]  # fmt: skip
    header = ["bandwidth", "surrogate ΔDP / ΔEO", "decisions ΔDP / ΔEO", "iterations"]
    return _table(header, lines)


def scale_commands() -> str:
    """Return what the commands took, by rows and groups."""
    lines = [
        [
            f"`{row['part']}`",
            f"{row['rows']:,}",
            str(row["groups"]),
            f"{row['processor seconds']:.0f}",
            f"{row['processor seconds'] / row['rows'] * 1e6:.1f}",
            f"{row['peak MiB']:,.0f}",
        ]
        for row in _results("scale")["rows"]
        if row["part"] in ("train", "predict")
    ]
    header = ["command", "rows", "groups", "processor seconds", "µs per row", "peak MiB"]
    return _table(header, lines)


def scale_parts() -> str:
    """Return what one pass and one fit of coded columns took."""
    lines = [
        [
            row["part"].replace("_", " "),
            f"{row['rows']:,}",
            str(row["groups"]),
            f"{row['ns per row and pass']:.0f} ns per row"
            if "ns per row and pass" in row
            else f"{row['processor seconds']:.1f} s",
            f"{row['peak MiB']:,.0f}",
        ]
        for row in _results("scale")["rows"]
        if row["part"] in ("one_pass", "fit")
    ]
    return _table(["40 coded columns", "rows", "groups", "took", "peak MiB"], lines)


def scale_goals() -> str:
    """Return the goals of what was measured."""
    lines = [
        [g["name"], f"{g['direction']} {g['goal']:g}", f"{g['value']:.4g}", _met(g["holds"])]
        for g in _results("scale")["goals"]
    ]
    return _table(["goal", "limit", "reached", "met"], lines)


def _met(holds: bool) -> str:
    return "yes" if holds else "no"


def _gaps(gaps: dict[str, float]) -> str:
    return " / ".join(_short(gaps[name]) for name in MEASURES[1:])


def smoothing_errors() -> str:
    """Return claimed errors against the independent reference, by activation."""
    rows = [row for row in _results("smoothing_errors")["rows"] if "networks" in row]
    small = {"largest error", "median claimed"}
    lines = [
        [f"{value:.1e}" if name in small else f"{value:.2g}" if isinstance(value, float)
         else str(value) for name, value in row.items()]
        for row in rows
    ]  # fmt: skip
    return _table(list(rows[0]), lines)


def scores() -> str:
    """Return rows per second of hidden layers, before and now."""
    lines = [
        [row["layer"], f"{row['rows/s before']:,.0f}", f"{row['rows/s']:,.0f}",
         f"{row['times faster']:.1f}", f"{row['largest claimed error']:.1e}"]
        for row in _results("scores")["rows"]
        if "layer" in row
    ]  # fmt: skip
    return _table(["layer", "rows/s before", "rows/s", "times", "largest claimed error"], lines)


BLOCKS: dict[str, Callable[[], str]] = {
    "tradeoff-short": tradeoff_short,
    "speed": speed,
    "tradeoff-full": tradeoff_full,
    "tradeoff-goals": tradeoff_goals,
    "tradeoff-first": tradeoff_first,
    "table1-adult": table1_adult,
    "small-alpha": small_alpha,
    "verdicts": verdicts,
    "baselines": baselines,
    "methods": methods,
    "datasets": data,
    "experiments": evaluation,
    "guarantee-bounds": guarantee_bounds,
    "guarantee-goals": guarantee_goals,
    "train-guarantee": train_guarantee,
    "guaranteed-accuracy": guaranteed_accuracy,
    "attack-linear": attack_linear,
    "forecasts-quality": forecasts_quality,
    "forecasts-worth": forecasts_worth,
    "attack-networks": attack_networks,
    "tuning": tuning,
    "tuning-bandwidth": tuning_bandwidth,
    "scale-commands": scale_commands,
    "scale-parts": scale_parts,
    "scale-goals": scale_goals,
    "smoothing-errors": smoothing_errors,
    "scores": scores,
}


def filled(text: str) -> str:
    """Return a page with every marked block made anew."""

    def block(match: re.Match[str]) -> str:
        name = match["name"]
        return f"<!-- table: {name} -->\n{BLOCKS[name]()}\n<!-- end -->"

    pattern = r"<!-- table: (?P<name>[\w-]+) -->\n.*?<!-- end -->"
    return re.sub(pattern, block, text, flags=re.DOTALL)


def _results(name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((RESULTS / f"{name}.json").read_text(encoding="utf-8"))
    return found


def _tradeoff() -> list[dict[str, Any]]:
    """Return what was chosen, and the ceilings; rows with an axis are for the picture."""
    rows: list[dict[str, Any]] = _results("tradeoff")["rows"]
    return [row for row in rows if "method" in row and "axis" not in row]


def _triple(row: dict[str, Any]) -> str:
    return " / ".join(_short(row[name]) for name in MEASURES if name in row)


def _short(value: float) -> str:
    return f"{value:.3f}".removeprefix("0")


def _with_error(row: dict[str, Any], name: str) -> str:
    value, error = row.get(name), row.get(f"{name}_se")
    if value is None:
        return "–"
    return _short(value) if error is None else f"{_short(value)} ± {_short(error)}"


def _table(header: list[str], lines: list[list[str]]) -> str:
    return "\n".join(
        "| " + " | ".join(line) + " |" for line in [header, ["---"] * len(header), *lines]
    )


if __name__ == "__main__":
    for page in PAGES:
        page.write_text(filled(page.read_text(encoding="utf-8")), encoding="utf-8")
