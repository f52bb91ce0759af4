"""The top of a reproduction's page: five sentences that answer in a minute, out of its numbers."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from fairsmooth.experiments import (
    FAILS,
    HOLDS,
    MAIN_METRICS,
    PAPER,
    SAME,
    TUNED,
    Experiment,
    experiment,
    label_of,
    margin_of,
    printed_rounding,
    read_printed,
    sign_of,
)
from fairsmooth.reporting.readings_table import nearest_reading
from fairsmooth.reporting.reproduction_words import case_name, columns_name, measure_name
from fairsmooth.reporting.verdict_groups import Answered, together, whose_claim

OURS, CONTROL, EXTENSION = "fairsmooth", "unconstrained", "fairsmooth_parity"
# Nobody reads a longer list in a minute; the groups below it hold all of them.
_SHOWN = 3
OPEN = (
    "The paper does not say whether sex and race are among its columns, how rows were split, at "
    "which σ and α its tables stand, or what its percentages are relative to"
)

Tables = Mapping[str, pd.DataFrame]


@dataclass(frozen=True)
class Answer:
    """One of the five: what it answers, and the answer."""

    lead: str
    text: str


def in_a_minute(answered: Answered, tables: Tables) -> list[Answer]:
    """Say what reproduced, what did not, what is impossible, what is open and what is better."""
    found = {
        "What reproduced": _held(answered),
        "What did not": _failed(answered, tables),
        "What is impossible": _impossible(tables),
        "What the paper leaves open": _open(tables),
        "What is better than printed, and how": _better(answered, tables),
    }
    return [Answer(lead, text) for lead, text in found.items() if text]


def _by_outcome(answered: Answered) -> dict[str, list[str]]:
    names: dict[str, list[str]] = {}
    for each, claims in answered:
        for answers in claims:
            if whose_claim(each, answers) == PAPER:
                name = f"“{answers.claim.name}”, {each.paper}"
                names.setdefault(together(answers), []).append(name)
    return names


def _held(answered: Answered) -> str:
    names = _by_outcome(answered)
    total = sum(map(len, names.values()))
    if not total:
        return ""
    held = names.get(HOLDS, [])
    return (
        f"Of the paper's {total} claims that numbers can contradict, {_hold(held)} with every "
        f"source of columns{_listed(held)}."
    )


def _failed(answered: Answered, tables: Tables) -> str:
    names = _by_outcome(answered)
    total = sum(map(len, names.values()))
    if not total:
        return ""
    failed, same = names.get(FAILS, []), names.get(SAME, [])
    rest = total - len(failed) - len(same) - len(names.get(HOLDS, []))
    return (
        f"{_beside_control(tables)}Of the claims {_hold(failed)} nowhere{_listed(failed)}, "
        f"{len(same)} would need a difference where there is less than .01{_listed(same)}, and "
        f"{rest} depend on columns or parameters or cannot be told from these trials."
    )


def _beside_control(tables: Tables) -> str:
    """Set FairSmooth's gaps beside those of the control, in the first case that has both."""
    for name in ("table1", "table4"):
        for row in _means(tables.get(name, pd.DataFrame())):
            if OURS in row["of"] and CONTROL in row["of"] and row["encoding"] == "binned":
                ours, control = (_gaps(row["of"][method]) for method in (OURS, CONTROL))
                return (
                    f"On {case_name(row['case'])} with {columns_name(row['encoding'])} "
                    f"FairSmooth, tuned, has gaps ΔDP {ours[0]} and ΔEO {ours[1]}; logistic "
                    f"regression without any constraint has {control[0]} and {control[1]}. "
                )
    return ""


def _impossible(tables: Tables) -> str:
    rows = tables.get("ceilings", pd.DataFrame())
    if rows.empty or "fair_ceiling" not in rows:
        return ""
    printed = read_printed(experiment("ceilings").printed).set_index("case")["accuracy"]
    parts = []
    for row in rows[(rows["encoding"] == "aif360") & (rows["status"] == "done")].to_dict("records"):
        if row["case"] in printed and _beyond(printed[row["case"]], row["fair_ceiling"]):
            parts.append(
                f"{case_name(row['case'])} ({_as_printed(printed[row['case']])} printed; at most "
                f"{_short(row['ceiling'])}, and {_short(row['fair_ceiling'])} within the printed "
                "gaps)"
            )
    if not parts:
        return ""
    return (
        "No function of the binary columns that the paper names reaches what it prints of "
        f"{' and '.join(parts)}."
    )


def _beyond(printed: float, ceiling: float) -> bool:
    return printed - printed_rounding("accuracy") > ceiling


def _open(tables: Tables) -> str:
    rows = tables.get("readings", pd.DataFrame())
    nearest = None if rows.empty else nearest_reading(experiment("readings"), rows)
    return f"{OPEN}." if nearest is None else f"{OPEN}; {nearest}."


def _better(answered: Answered, tables: Tables) -> str:
    better: list[str] = []
    worse = total = 0
    for each, _ in answered:
        if not each.printed or each.kind != "fit" or each.name == "table2":
            continue
        for place, metric, ours, printed in _beside_printed(each, tables):
            total += 1
            lead = sign_of(metric) * (ours - printed)
            if abs(lead) > margin_of(metric) + printed_rounding(metric):
                worse += lead < 0.0
                if lead > 0.0:
                    text = f"{measure_name(metric)} of {place} {_short(ours)}"
                    better.append(f"{text} instead of {_as_printed(printed)}")
    if not total:
        return ""
    return (
        f"{len(better)} of {total} figures of FairSmooth, tuned, are better than "
        f"printed{_listed(better)}, and {worse} are worse{_extension(tables)}."
    )


def _beside_printed(each: Experiment, tables: Tables) -> Iterator[tuple[str, str, float, float]]:
    printed = read_printed(each.printed)
    printed = printed[printed["method"] == OURS].set_index("case")
    known = printed.to_dict("index")
    for row in _means(tables.get(each.name, pd.DataFrame())):
        if OURS not in row["of"] or row["case"] not in known:
            continue
        place = f"{case_name(row['case'])}, {columns_name(row['encoding'])},"
        for metric in (*MAIN_METRICS, "epsilon"):
            theirs = known[row["case"]].get(metric)
            ours = row["of"][OURS].get(metric)
            if theirs is not None and ours is not None and ours == ours:
                yield place, metric, float(ours), float(theirs)


def _extension(tables: Tables) -> str:
    """Say what the objective that asks for small gaps reaches, where it has smaller ones."""
    for row in _means(tables.get("table1", pd.DataFrame())):
        if {EXTENSION, OURS} <= set(row["of"]) and row["encoding"] == "binned":
            own, ours = row["of"][EXTENSION], row["of"][OURS]
            if any(own[gap] >= ours[gap] for gap in MAIN_METRICS[1:]):
                continue
            return (
                "; what makes gaps small is an objective that asks for it: "
                f"{label_of(EXTENSION)} has accuracy {_short(own[MAIN_METRICS[0]])}, ΔDP "
                f"{_gaps(own)[0]} and ΔEO {_gaps(own)[1]} on {case_name(row['case'])} with "
                f"{columns_name(row['encoding'])}"
            )
    return ""


def _means(rows: pd.DataFrame) -> Iterator[dict[str, Any]]:
    """Yield the means of the tuned methods, a mapping per case and source of columns."""
    if rows.empty:
        return
    tuned = rows[(rows["track"] == TUNED) & (rows["status"] == "done")]
    names = [name for name in (*MAIN_METRICS, "epsilon") if name in tuned]
    for (case, encoding), part in tuned.groupby(["case", "encoding"], sort=False):
        means = part.groupby("method")[names].mean()
        yield {"case": str(case), "encoding": str(encoding), "of": means.T.to_dict()}


def _hold(names: Sequence[str]) -> str:
    return "1 holds" if len(names) == 1 else f"{len(names) or 'none'} hold"


def _gaps(means: Mapping[str, float]) -> list[str]:
    return [_short(means[name]) for name in MAIN_METRICS[1:]]


def _short(value: float) -> str:
    return f"{value:.{3 if value >= 0.02 else 4}f}".removeprefix("0")


def _as_printed(value: float) -> str:
    return f"{value:g}".removeprefix("0")


def _listed(names: Sequence[str]) -> str:
    if not names:
        return ""
    more = f", and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return f" ({'; '.join(names[:_SHOWN])}{more})"
