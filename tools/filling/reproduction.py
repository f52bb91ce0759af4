"""Tables of the paper's evaluation, from the records of its reproduction."""

import json

import pandas as pd

from fairsmooth.experiments import experiments
from filling.markdown import MEASURES, RESULTS, Blocks, table, triple


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
    own = [[triple(dict(control.loc[case])), "–"] for case in cases]
    lines.append(["logistic regression", *(cell for pair in own for cell in pair)])
    header = [name for case in cases for name in (case.replace("-", " "), "ε")]
    return table(["α", *header], lines)


def _alpha_cells(means: pd.DataFrame, alpha: float, case: str) -> list[str]:
    row = dict(means.loc[(alpha, case)])
    return [triple(row), f"{row['epsilon']:.3f}"]


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
    return table(["asked of", *outcomes], lines)


def evaluation() -> str:
    """Return every experiment as it declares itself."""
    lines = [
        [f"`{each.name}`", each.paper or "beyond it", each.about.rstrip(".")]
        for each in experiments()
    ]
    return table(["name", "in the paper", "what"], lines)


BLOCKS: Blocks = {
    "table1-adult": table1_adult,
    "small-alpha": small_alpha,
    "verdicts": verdicts,
    "experiments": evaluation,
}
