"""Tables of guarantees, of training to them, and of attacks on certificates."""

import math

from filling.markdown import Blocks, results, short, table


def guarantee_bounds() -> str:
    """Return the bounds of every case without a shift, and of the gap after one."""
    rows = results("guarantee")["rows"]
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
        shift = "–" if row["shift"] == "none" else f"Hellinger {short(row['radius'])}"
        numbers = ["–" if row[name] is None else f"{row[name]:.4f}" for name in names]
        share = f"{row['excess_share_of_boxes']:.3f}"
        lines.append([row["case"], row["quantity"], shift, *numbers, share])
    header = ["case", "quantity", "shift", "measured", "exact", "boxes", "Hoeffding", "Student's t"]
    return table([*header, "Kang et al.", "excess / boxes'"], lines)


def guarantee_goals() -> str:
    """Return every goal of the four benchmarks with what was reached."""
    names = ("guarantee", "coverage", "train_guarantee", "guaranteed_accuracy")
    found = [goal for name in names for goal in results(name)["goals"]]
    lines = [
        [
            goal["name"].strip(),
            f"{goal['direction']} {goal['goal']:.3g}",
            f"{goal['value']:.4g}",
            "yes" if goal["holds"] else "no",
        ]
        for goal in found
    ]
    return table(["goal", "limit", "reached", "met"], lines)


def train_guarantee() -> str:
    """Return how often training to a guarantee returns a model, and how often a wrong one."""
    lines = []
    for row in results("train_guarantee")["rows"]:
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
    return table([*header, "largest true gap"], lines)


def guaranteed_accuracy() -> str:
    """Return what each method guarantees on Adult: return rate, accuracy and gap."""
    rows = [row for row in results("guaranteed_accuracy")["rows"] if "splits" in row]
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
    return table([*header, "gap of decisions", "largest", "seconds"], lines)


def attack_linear() -> str:
    """Return what the attack finds and proves for random linear models, by kind."""
    rows = [row for row in results("attack")["rows"] if "models" in row]
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
    return table([*header, "proved to 99 %", "longest, seconds"], lines)


def attack_networks() -> str:
    """Return what the search finds for networks in the time that it is granted."""
    lines = [
        [
            row["network"],
            f"{row['seconds granted']:.0f}",
            f"{row['seconds used']:.1f}",
            short(row["largest gap"]),
            f"{row['share of bound']:.2f}",
        ]
        for row in results("attack")["rows"]
        if "network" in row
    ]
    return table(["network", "seconds granted", "used", "largest gap", "share of bound"], lines)


BLOCKS: Blocks = {
    "guarantee-bounds": guarantee_bounds,
    "guarantee-goals": guarantee_goals,
    "train-guarantee": train_guarantee,
    "guaranteed-accuracy": guaranteed_accuracy,
    "attack-linear": attack_linear,
    "attack-networks": attack_networks,
}
