"""The monitor itself, looked at after every batch."""

import ast
from collections.abc import Callable

import numpy as np
from _report import Goal, Row, at_least, at_most

from fairsmooth.guarantees import GapMonitor

BREAKS = 150


def watch(
    runs: int, name: str, limit: float, gap_at: Callable[[int], float], *, looks: int = 200
) -> Row:
    """Run the monitor itself, a look after every batch; both rates drift with the seasons."""
    rng = np.random.default_rng(8)
    group = np.resize(["a", "b"], 100)
    wrong, alarms = 0, []
    for _ in range(runs):
        monitor = GapMonitor({"demographic_parity": limit})
        for look in range(looks):
            base = 0.2 + (0.1 * np.sin(look / 10.0) if name == "drifting" else 0.0)
            rate = base + gap_at(look) * (group == "a")
            decided = (rng.random(len(group)) < rate).astype(int)
            # Named: two batches of a hundred rows may be alike by chance.
            monitor.update(decided, sensitive_features=group, batch=str(look))
        found = monitor.history
        wrong += any(each["bounds"]["demographic_parity"] < gap_at(0) - 1e-9 for each in found)
        alarmed = [look for look, each in enumerate(found) if each["status"] == "alarm"]
        alarms.append(alarmed[0] if alarmed else looks)
    return {
        "monitor": name,
        "runs": runs,
        "looks": looks,
        "bound_ever_wrong": wrong / runs,
        "first_alarms": str(sorted(alarms)),
        "mean_first_alarm": float(np.mean(alarms)),
    }


def monitored(runs: int) -> list[Row]:
    """Watch constant rates at the limit, and drifting ones that keep it until they break it."""
    constant = watch(runs, "constant", 0.1, lambda look: 0.1)
    drifting = watch(runs, "drifting", 0.1, lambda look: 0.03 if look < BREAKS else 0.35)
    first = np.array(ast.literal_eval(drifting["first_alarms"]))
    drifting["alarms_before_the_limit_was_broken"] = int((first < BREAKS).sum())
    drifting["most_batches_to_the_alarm"] = int(first.max() - BREAKS + 1)
    # Nothing is said of drifting rates but by alarms.
    del drifting["bound_ever_wrong"], drifting["mean_first_alarm"]
    return [constant, drifting]


def goals_of(constant: Row, drifting: Row, *, error: float) -> list[Goal]:
    early, delay = "alarms_before_the_limit_was_broken", "most_batches_to_the_alarm"
    return [
        at_most("the monitor's bound ever wrong, constant rates", constant["bound_ever_wrong"], 0),
        # An e-detector: 1/error batches on average, even where the gap is the limit itself.
        at_least("batches to a false alarm at the limit", constant["mean_first_alarm"], 1 / error),
        at_most("the monitor's early alarms, drifting rates", drifting[early], 0),
        at_most("the monitor's batches to the alarm, at most", drifting[delay], 5),
    ]
