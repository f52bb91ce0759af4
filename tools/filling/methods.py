"""Tables of methods and data as they declare themselves, and of what methods come to."""

import json
from pathlib import Path
from statistics import mean
from typing import Any

from fairsmooth.datasets import datasets
from fairsmooth.experiments import everyone
from filling.markdown import MEASURES, RESULTS, Blocks, results, short, table


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
    return table([*names, "sees the group when predicting", "page"], lines)


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
    return table(["name", "rows", "label 1", "sensitive", "encodings", "source"], lines)


def baselines() -> str:
    """Return what every method comes to on both datasets: means over the seeds."""
    trials = json.loads((RESULTS / "baselines.json").read_text(encoding="utf-8"))["rows"]
    names = (*MEASURES, "cpu_seconds")
    lines = []
    for case, method in dict.fromkeys((row["case"], row["method"]) for row in trials):
        own = [row for row in trials if (row["case"], row["method"]) == (case, method)]
        means = [mean(row[name] for row in own) for name in names]
        lines.append([case, method, *map(short, means[:-1]), f"{means[-1]:.1f}"])
    return table(["case", "method", "accuracy", "ΔDP", "ΔEO", "seconds"], lines)


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
    return table([*header, "seconds / one regression"], lines)


def forecasts_worth() -> str:
    """Return what rules of both forecasts, of the label's and without limits reach."""
    lines = [
        [
            row["setting"],
            *(
                " / ".join(short(row[f"{what}_{name}"]) for name in ("accuracy", "dp", "eo"))
                for what in ("free", "label", "both")
            ),
        ]
        for row in _forecasts()
        if row["booster"] == "sklearn"
    ]
    return table(["setting", "no limits", "label's forecast alone", "label and group"], lines)


def _forecasts() -> list[dict[str, Any]]:
    """Return one row per setting and booster: the benchmark prints three tables of them."""
    joined: dict[tuple[str, str], dict[str, Any]] = {}
    for row in results("forecasts")["rows"]:
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
        for row in results("tuning")["rows"]
        if "within" in row
    ]
    header = ["case", "seed", "gap", "judged", "tested", "within", "one hold-out"]
    return table(header, lines)


def tuning_bandwidth() -> str:
    """Return the gaps of the parity term's surrogate and of decisions, by bandwidth."""
    lines = [
        [f"{row['bandwidth']:g}", *(_gaps(row[kind]) for kind in ("surrogate", "decisions")),
         str(row["iterations"])]
        for row in results("tuning")["rows"]
        if "bandwidth" in row
    ]  # fmt: skip
    header = ["bandwidth", "surrogate ΔDP / ΔEO", "decisions ΔDP / ΔEO", "iterations"]
    return table(header, lines)


def _gaps(gaps: dict[str, float]) -> str:
    return " / ".join(short(gaps[name]) for name in MEASURES[1:])


BLOCKS: Blocks = {
    "methods": methods,
    "datasets": data,
    "baselines": baselines,
    "forecasts-quality": forecasts_quality,
    "forecasts-worth": forecasts_worth,
    "tuning": tuning,
    "tuning-bandwidth": tuning_bandwidth,
}
