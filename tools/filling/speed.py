"""Tables of speed, size and numerical error."""

from filling.markdown import Blocks, results, table

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


def speed() -> str:
    """Return what the benchmarks of speed reached, one line each."""
    lines = [
        [what, _times(_goal(name, goal)), f"`benchmarks/{name}.py`"] for what, name, goal in _SPEED
    ]
    return table(["what", "measured", "by"], lines)


def _goal(name: str, goal: str) -> float:
    return next(one["value"] for one in results(name)["goals"] if one["name"] == goal)


def _times(value: float) -> str:
    return f"{value:.1f}" if value < 100 else f"{value:.0f}"


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
        for row in results("scale")["rows"]
        if row["part"] in ("train", "predict")
    ]
    header = ["command", "rows", "groups", "processor seconds", "µs per row", "peak MiB"]
    return table(header, lines)


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
        for row in results("scale")["rows"]
        if row["part"] in ("one_pass", "fit")
    ]
    return table(["40 coded columns", "rows", "groups", "took", "peak MiB"], lines)


def scale_goals() -> str:
    """Return the goals of what was measured."""
    lines = [
        [g["name"], f"{g['direction']} {g['goal']:g}", f"{g['value']:.4g}", _met(g["holds"])]
        for g in results("scale")["goals"]
    ]
    return table(["goal", "limit", "reached", "met"], lines)


def _met(holds: bool) -> str:
    return "yes" if holds else "no"


def smoothing_errors() -> str:
    """Return claimed errors against the independent reference, by activation."""
    rows = [row for row in results("smoothing_errors")["rows"] if "networks" in row]
    small = {"largest error", "median claimed"}
    lines = [
        [f"{value:.1e}" if name in small else f"{value:.2g}" if isinstance(value, float)
         else str(value) for name, value in row.items()]
        for row in rows
    ]  # fmt: skip
    return table(list(rows[0]), lines)


def scores() -> str:
    """Return rows per second of hidden layers, before and now."""
    lines = [
        [row["layer"], f"{row['rows/s before']:,.0f}", f"{row['rows/s']:,.0f}",
         f"{row['times faster']:.1f}", f"{row['largest claimed error']:.1e}"]
        for row in results("scores")["rows"]
        if "layer" in row
    ]  # fmt: skip
    return table(["layer", "rows/s before", "rows/s", "times", "largest claimed error"], lines)


def deep_scores() -> str:
    """Return rows per second of a deep network at equal width, beside other versions."""
    lines = [
        [row["against"].replace("-", " "), f"{row['sigma']:g}", f"{row['mean width']:.4f}",
         f"{row['draws']:,}", f"{row['rows/s before']:,.0f}", f"{row['rows/s']:,.0f}",
         f"{row['times, equal width']:.1f}", f"{row['times, no interval']:.1f}"]
        for row in results("deep_scores")["rows"]
    ]  # fmt: skip
    header = ["against", "σ", "mean width", "draws", "rows/s before", "rows/s", "times",
              "times, no interval"]  # fmt: skip
    return table(header, lines)


BLOCKS: Blocks = {
    "speed": speed,
    "scale-commands": scale_commands,
    "scale-parts": scale_parts,
    "scale-goals": scale_goals,
    "smoothing-errors": smoothing_errors,
    "scores": scores,
    "deep-scores": deep_scores,
}
