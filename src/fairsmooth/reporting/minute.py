"""The top of a reproduction's page: five sentences that answer in a minute, out of its numbers."""

from collections.abc import Iterator, Mapping, Sequence

import pandas as pd

from fairsmooth.experiments import (
    FAILS,
    HOLDS,
    MAIN_METRICS,
    PAPER,
    SAME,
    UNKNOWN,
    Experiment,
    margin_of,
    printed_rounding,
    read_printed,
    sign_of,
)
from fairsmooth.reporting.claims import PRINTED, ClaimAnswers
from fairsmooth.reporting.compare import case_name, metric_name

OURS = "fairsmooth"
_SHOWN = 4
OPEN = (
    "The paper leaves open which columns it used (sex and race among them or not), how rows were "
    "split, at which σ and α its tables stand, and what its percentages are relative to; "
    "`fairsmooth reproduce readings` runs the readings side by side."
)

Answered = Sequence[tuple[Experiment, Sequence[ClaimAnswers]]]
Tables = Mapping[str, pd.DataFrame]


def in_a_minute(answered: Answered, tables: Tables) -> list[str]:
    """Say what reproduced, what did not, what is impossible, what is open and what is better."""
    found = [
        *_by_outcome(answered),
        *_impossible(tables),
        OPEN,
        *_better(answered, tables),
    ]
    return [sentence for sentence in found if sentence]


def _by_outcome(answered: Answered) -> Iterator[str]:
    names: dict[str, list[str]] = {HOLDS: [], FAILS: [], UNKNOWN: []}
    for experiment, claims in answered:
        for answers in claims:
            if answers.claim.whose == PAPER and (outcome := _together(answers)):
                names[outcome].append(f"{answers.claim.name} ({experiment.paper})")
    total = sum(map(len, names.values()))
    if not total:
        return
    yield (
        f"Of {total} claims of the paper, {len(names[HOLDS])} hold with every source of columns"
        f"{_listed(names[HOLDS])}"
    )
    yield (
        f"{len(names[FAILS])} do not hold, or show no difference, with any"
        f"{_listed(names[FAILS])} The other {len(names[UNKNOWN])} depend on the columns or cannot "
        "be told from these trials."
    )


def _together(answers: ClaimAnswers) -> str:
    """Return what all sources of columns say of a claim; nothing if none was asked."""
    said = {v.outcome for source, v in answers.verdicts.items() if source != PRINTED}
    if not said:
        return ""
    if said == {HOLDS}:
        return HOLDS
    return FAILS if said <= {FAILS, SAME} else UNKNOWN


def _impossible(tables: Tables) -> Iterator[str]:
    rows = tables.get("ceilings", pd.DataFrame())
    if rows.empty or "fair_ceiling" not in rows:
        return
    parts = []
    binary = rows[(rows["encoding"] == "aif360") & (rows["status"] == "done")]
    for row in binary.to_dict("records"):
        printed = _printed_accuracy(row["case"])
        if printed is not None and printed - printed_rounding("accuracy") > row["fair_ceiling"]:
            parts.append(
                f"{case_name(row['case'])} at most {row['ceiling']:.3f}, and "
                f"{row['fair_ceiling']:.3f} within the printed gaps ({printed:.2f} printed)"
            )
    if parts:
        yield f"Impossible with the binary columns that are named: {'; '.join(parts)}."


def _printed_accuracy(case: str) -> float | None:
    from fairsmooth.experiments.paper.ceilings import ACCURACY

    return ACCURACY.get(case)


def _better(answered: Answered, tables: Tables) -> Iterator[str]:
    better: list[str] = []
    worse: list[str] = []
    for experiment, _ in answered:
        if not experiment.printed or experiment.kind != "fit" or experiment.name == "table2":
            continue
        printed = read_printed(experiment.printed)
        for row in printed[printed["method"] == OURS].to_dict("records"):
            for metric in [name for name in MAIN_METRICS if name in row]:
                for source, mean in _means(tables[experiment.name], row["case"], metric):
                    lead = sign_of(metric) * (mean - row[metric])
                    place = f"{case_name(row['case'])}, {source}, {metric_name(metric)}"
                    text = f"{place} {mean:.3f} ({row[metric]:.2f})"
                    if abs(lead) > margin_of(metric) + printed_rounding(metric):
                        (better if lead > 0 else worse).append(text)
    if better or worse:
        yield (
            f"Ours is better than printed in {len(better)} of FairSmooth's figures"
            f"{_listed(better)} It is worse in {len(worse)}{_listed(worse)} Small gaps together "
            "with accuracy take another objective: see the trade-off."
        )


def _means(rows: pd.DataFrame, case: str, metric: str) -> Iterator[tuple[str, float]]:
    if metric not in rows:
        return
    own = rows[(rows["case"] == case) & (rows["method"] == OURS) & rows[metric].notna()]
    for source, mean in own.groupby("source")[metric].mean().items():
        yield str(source), float(mean)


def _listed(names: Sequence[str]) -> str:
    if not names:
        return "."
    more = f", and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return f": {'; '.join(names[:_SHOWN])}{more}."
