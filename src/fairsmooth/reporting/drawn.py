"""From an audit to the charts of its page."""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from fairsmooth.core.certificate import Certificate
from fairsmooth.core.outward import upper_text
from fairsmooth.metrics import Audit
from fairsmooth.metrics.auditing.score_counts import FEWEST
from fairsmooth.reporting.charts import by_group, explorers, relations
from fairsmooth.reporting.charts.drawing import Drawn
from fairsmooth.reporting.explored import score_shapes
from fairsmooth.reporting.selection import names_in_order

_RATES = {
    "selection_rate": (
        "Selected",
        "Dots far apart are groups selected unequally often; bars that overlap may be chance.",
        "of the group",
    ),
    "true_positive_rate": (
        "Selected, of those truly positive",
        "True positive rate: how often people who deserve it by their label are selected.",
        "of its positive people",
    ),
    "false_positive_rate": (
        "Selected, of those truly negative",
        "False positive rate: how often people who do not are selected all the same.",
        "of its negative people",
    ),
}
_BASE = (
    "Truly positive",
    "Base rate: where these differ, no rule can equalise selection and errors at once.",
    "of the group",
)


def rate_charts(audit: Audit, beside: Audit | None) -> list[Drawn]:
    """Draw selection, true and false positive rates, each with its interval."""
    return [
        chart
        for metric, words in _RATES.items()
        if (chart := _rates(audit, metric, words, beside)) is not None
    ]


def label_charts(audit: Audit) -> list[Drawn]:
    """Draw base rates, errors and calibration; nothing without labels."""
    base = _rates(audit, "base_rate", _BASE, None)
    return [chart for chart in (base, _errors(audit), _calibration(audit)) if chart is not None]


def _rates(
    audit: Audit, metric: str, words: tuple[str, str, str], beside: Audit | None
) -> Drawn | None:
    rows = []
    for group, name in names_in_order(audit).items():
        record = audit.find(metric, group)
        if record is None or np.isnan(record.value) or record.low is None:
            continue
        other = None if beside is None else beside.find(metric, group)
        row = {"group": name, "value": record.value, "low": record.low, "high": record.high,
               "rows": record.count}  # fmt: skip
        if other is not None and not np.isnan(other.value):
            row["reference"] = other.value
        rows.append(row)
    if not rows:
        return None
    title, caption, axis = words
    if any("reference" in row for row in rows):
        caption += " Diamonds: a plain logistic regression on the same rows."
    name = f"chart-{metric.replace('_', '-')}"
    alt = f"{title}: " + "; ".join(f"{r['group']} {r['value']:.1%}" for r in rows)
    return Drawn(name, title, caption, alt, by_group.intervals(rows, axis=axis))


def _errors(audit: Audit) -> Drawn | None:
    kinds = {
        "false_negative_rate": "positive people not selected",
        "false_positive_rate": "negative people selected",
    }
    rows = []
    for group, name in names_in_order(audit).items():
        for metric, kind in kinds.items():
            record = audit.find(metric, group)
            if record is not None and not np.isnan(record.value):
                rows.append({"group": name, "kind": kind, "value": record.value})
    if not rows:
        return None
    caption = "Who bears which error: marks of one kind far apart are unequal error rates."
    alt = "Error rates by group: " + "; ".join(
        f"{r['group']}, {r['kind']} {r['value']:.1%}" for r in rows
    )
    return Drawn("chart-errors", "Errors", caption, alt, by_group.stacked_errors(rows))


def _calibration(audit: Audit) -> Drawn | None:
    names, coloured = names_in_order(audit), _coloured(audit)
    rows = [
        {"group": names[tenth["group"]], "who": coloured[names[tenth["group"]]],
         "score": tenth["mean_score"], "share": tenth["positive_share"], "low": tenth["low"],
         "high": tenth["high"], "rows": tenth["count"]}
        for tenth in audit.reliability().to_dict("records")
        if tenth["group"] is not None and tenth["count"] >= FEWEST
    ]  # fmt: skip
    if not rows:
        return None
    caption = (
        "Calibration: on the dashed line a score of 0.3 means 30 % positive. A group above it is "
        f"scored too low. Bins with fewer than {FEWEST} people are left out."
    )
    alt = "Share of positive people against their score, group by group; also in the table."
    return Drawn("chart-calibration", "Are scores right?", caption, alt,
                 relations.calibration(rows))  # fmt: skip


def _coloured(audit: Audit) -> dict[str, str]:
    """Name the colour of every group: its own, or where there are many, that of the ends."""
    names = names_in_order(audit)
    if len(names) <= relations.MOST_COLOURS:
        return {name: name for name in names.values()}
    rates = {name: audit.find("selection_rate", group) for group, name in names.items()}
    known = sorted((r.value, n) for n, r in rates.items() if r is not None and r.value == r.value)
    ends = {known[0][1]: "least selected: ", known[-1][1]: "most selected: "}
    return {n: f"{ends[n]}{n}" if n in ends else relations.OTHERS for n in names.values()}


def score_chart(audit: Audit) -> Drawn | None:
    """Draw how scores are spread, group by group."""
    rows = score_shapes(audit)
    if not rows or audit.threshold is None:
        return None
    n_groups = len({row["group"] for row in rows})
    spec = by_group.score_shapes(rows, threshold=audit.threshold, n_groups=n_groups)
    caption = (
        "The thicker, the more of the group's people score there; right of the dashed line they "
        f"are selected. Groups with fewer than {FEWEST} people are left out."
    )
    alt = "How the scores of every group are spread, with the threshold."
    return Drawn("chart-scores", "Scores by group", caption, alt, spec)


def model_charts(audit: Audit, history: tuple[Any, ...]) -> Iterator[Drawn]:
    """Draw what concerns the model: gaps against their bound, tying cost, training."""
    if audit.gap_sample is not None and audit.certificate is not None:
        yield _gaps(audit, audit.certificate)
    cost = _tying(audit)
    if cost is not None:
        yield cost
    if len(history) > 1:
        rows = [{"step": step.step, "objective": step.objective} for step in history]
        first, last = rows[0]["objective"], rows[-1]["objective"]
        yield Drawn(
            "chart-history", "Training", "If it is flat at the end, training had come to rest.",
            f"The objective went from {first:.4f} to {last:.4f} in {len(rows)} steps.",
            relations.history(rows),
        )  # fmt: skip


def _gaps(audit: Audit, certificate: Certificate) -> Drawn:
    sample = audit.gap_sample
    assert sample is not None
    names = names_in_order(audit)
    coloured = _coloured(audit)
    rows = [
        {"group": names[group], "who": coloured[names[group]], "score": score, "gap": gap}
        for group, score, gap in zip(sample.groups, sample.scores, sample.gaps, strict=True)
    ]
    scores = np.linspace(0.0, 1.0, 51)
    curve = []
    for group in audit.groups:
        ends = certificate.interval(scores, group)
        widest = np.maximum(ends[:, 1] - scores, scores - ends[:, 0])
        curve += [
            {"group": names[group], "who": coloured[names[group]], "score": float(s),
             "bound": float(b)}
            for s, b in zip(scores, widest, strict=True)
        ]  # fmt: skip
    largest, bound = max(sample.gaps), certificate.epsilon_tight
    caption = (
        f"{len(rows)} rows drawn at random, with the largest of every group among them. No dot "
        "may be above the dashed line of its group, what is certified: the largest is "
        f"{largest:.4f}, and {upper_text(bound)} the most that is possible."
    )
    alt = f"Measured distances to the own classifier: at most {largest:.4f}."
    spec = relations.gaps_against_bound(rows, curve)
    return Drawn("chart-gaps", "Measured against certified", caption, alt, spec)


def _tying(audit: Audit) -> Drawn | None:
    rows = []
    for group, name in names_in_order(audit).items():
        record = audit.find("tying_cost_log_loss", group)
        if record is None or np.isnan(record.value):
            continue
        ends = [record.value if x is None or not np.isfinite(x) else x
                for x in (record.low, record.high)]  # fmt: skip
        rows.append({"group": name, "value": record.value, "low": ends[0], "high": ends[1]})
    if not rows:
        return None
    caption = (
        "What the tie to the other groups cost each group's own classifier; right of zero it "
        "would do better alone."
    )
    alt = "Tying cost: " + "; ".join(f"{r['group']} {r['value']:.4f}" for r in rows)
    spec = by_group.differences(rows, axis="log-loss per person given up")
    return Drawn("chart-tying", "Tying cost", caption, alt, spec)


def explorer_charts(data: Mapping[str, Any]) -> list[Drawn]:
    """Draw the frames that the explorers fill."""
    found = []
    threshold = data.get("threshold")
    if threshold:
        labelled = any(c["label"] is not None for g in threshold["groups"] for c in g["cells"])
        spec = explorers.at_threshold(len(threshold["groups"]), labelled=labelled)
        found.append(Drawn("chart-threshold", "", "", "Rates by group at the threshold", spec))
    if data.get("shift"):
        spec = explorers.at_radius(axis="guaranteed bound")
        found.append(Drawn("chart-shift", "", "", "Guaranteed band against the distance", spec))
    if data.get("curves"):
        points = (point for curve in data["curves"] for point in curve["points"])
        known = any(point["reference"] is not None for point in points)
        spec = explorers.along_a_shift(axis="gap between groups", reference=known)
        found.append(Drawn("chart-curve", "", "", "Measured gap as people change", spec))
    return found
