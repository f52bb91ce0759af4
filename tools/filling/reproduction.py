"""Tables of the paper's evaluation, from the records of its reproduction."""

import json
import re
from typing import Any

import pandas as pd

from fairsmooth.experiments import PUBLISHED, TUNED, experiment, experiments, read_printed
from fairsmooth.reporting.compare import comparison_tables
from fairsmooth.reporting.reproduction_words import TRACKS, case_name, source_name
from filling.markdown import MEASURES, RESULTS, Blocks, results, short, table, triple

CONTROL, OURS = "unconstrained", "fairsmooth"
TABLES = ("table1", "table4")
NOT_RUN = "No records of it are committed yet."


def minute() -> str:
    """Return the five sentences on top of the page."""
    return "\n".join(re.findall(r"^\d\. .*$", _page("reproduce"), flags=re.MULTILINE))


def missing() -> str:
    """Return the profile of the committed records, and what of it has not run."""
    found = _summary()
    page = re.search(r"Not everything has run yet\.\*\* (.*)$", _page("reproduce"), re.MULTILINE)
    rest = f" Not everything has run: {page[1]}" if page else ""
    return (
        f"The committed records are of the `{found['profile']}` profile, {found['trials']} trials: "
        f"{found['finished']:,} of {found['jobs']:,} jobs, {found['failed']} failed, "
        f"{found['cpu_seconds'] / 3600:.1f} hours of one core.{rest}"
    )


def against_control() -> str:
    """Return accuracy / ΔDP / ΔEO printed, ours and of the control, in the four settings."""
    cases, printed = _printed()
    lines = [["FairSmooth, printed", *(_printed_triple(printed[case]) for case in cases)]]
    for label, method in (("FairSmooth", OURS), ("logistic regression", CONTROL)):
        for encoding in ("aif360", "binned"):
            means = _tuned(method, encoding)
            cells = [triple(means[case]) if case in means else "–" for case in cases]
            lines.append([f"{label}, {source_name(encoding, tracks=False)}", *cells])
    return table(["accuracy / ΔDP / ΔEO", *map(case_name, cases)], lines)


def reproduced() -> str:
    """Return README's paragraph on the paper itself: gaps printed, ours and of the control."""
    cases, printed = _printed()
    ours, control = (_tuned(method, "binned") for method in (OURS, CONTROL))
    parts = [
        f"{case_name(case)} {_gaps(ours[case])} against {_gaps(control[case])} "
        f"({' / '.join(_as_printed(printed[case][name]) for name in MEASURES[1:])} printed)"
        for case in cases
        if case in ours and case in control
    ]
    return (
        "**The paper itself, reproduced.** Its objective ties the groups' classifiers together; it "
        "does not ask for small gaps. Tuned, with α of .25 and more and all useful columns, its "
        f"ΔDP / ΔEO against those of logistic regression are: {', '.join(parts)}."
    )


def _printed() -> tuple[list[str], dict[str, dict[str, Any]]]:
    """Return the four settings, and the row of FairSmooth that is printed for each."""
    declared = [experiment(name) for name in TABLES]
    printed = pd.concat([read_printed(each.printed) for each in declared])
    rows = printed[printed["method"] == OURS].set_index("case").to_dict("index")
    return [case for each in declared for case in each.cases], {str(k): v for k, v in rows.items()}


def _tuned(method: str, encoding: str) -> dict[str, dict[str, Any]]:
    """Return the means of a tuned method by case."""
    rows = pd.concat([_rows(name) for name in TABLES])
    own = rows[(rows["method"] == method) & (rows["encoding"] == encoding)]
    means = own[own["track"] == TUNED].groupby("case")[list(MEASURES)].mean()
    return {str(case): row for case, row in means.to_dict("index").items()}


def table1_published() -> str:
    """Return Adult by sex with every method as published."""
    return _table1(PUBLISHED)


def table1_tuned() -> str:
    """Return Adult by sex with every method tuned."""
    return _table1(TUNED)


def _table1(track: str) -> str:
    tables = comparison_tables(experiment("table1"), _rows("table1"))
    wanted = f"{case_name('adult-sex')}, {TRACKS[track]}"
    return next(each for each in tables if each.title == wanted).to_markdown()


def small_alpha() -> str:
    """Return accuracy / ΔDP / ΔEO and ε of FairSmooth by α, all useful columns, σ 1."""
    rows = pd.concat([_rows(name) for name in ("figure3", "figure5")])
    swept = rows[(rows["axis"] == "alpha") & (rows["encoding"] == "binned")]
    means = swept.groupby(["value", "case"])[[*MEASURES, "epsilon"]].mean()
    cases = list(dict.fromkeys(swept["case"]))
    lines = [
        [f"{alpha:g}", *(cell for case in cases for cell in _alpha_cells(means, alpha, case))]
        for alpha in sorted(swept["value"].unique())
    ]
    own = _tuned(CONTROL, "binned")
    pairs = [[triple(own[case]) if case in own else "–", "–"] for case in cases]
    lines.append(["logistic regression", *(cell for pair in pairs for cell in pair)])
    return table(["α", *(name for case in cases for name in (case_name(case), "ε"))], lines)


def _alpha_cells(means: pd.DataFrame, alpha: float, case: str) -> list[str]:
    if (alpha, case) not in means.index:
        return ["–", "–"]
    row = dict(means.loc[(alpha, case)])
    return [triple(row), f"{row['epsilon']:.3f}"]


def verdicts() -> str:
    """Return how many of the paper's claims got which verdict, before and now."""
    before = results("verdicts_before")
    found = _summary()
    now = f"today's rule, {found['trials']} trials, `{found['profile']}`"
    runs: dict[str, Any] = {**before, now: found["claims"]}
    outcomes = ("holds", "no difference", "does not hold", "cannot be told")
    lines = [
        [run, source_name(source), *(_count(counts[outcome]) for outcome in outcomes)]
        for run, sources in runs.items()
        for source, counts in sources.items()
    ]
    return table(["run", "asked of", *outcomes], lines)


def together() -> str:
    """Return what became of the paper's claims, all sources taken together."""
    found = _summary().get("together", {})
    return table(["all sources together", "claims"], [[name, str(n)] for name, n in found.items()])


def _count(number: int | None) -> str:
    return "–" if number is None else str(number)


def readings() -> str:
    """Return every reading with its distance to the printed rows, the nearest first."""
    if not (RESULTS / "readings").exists():
        return NOT_RUN
    section = _page("readings").split("## Beyond the paper: readings\n", 1)[1]
    return section[section.index("\n| ") + 1 :].split("\n\n", 1)[0]


def nearest_reading() -> str:
    """Return the sentence on what the paper leaves open, with the nearest reading."""
    if not (RESULTS / "readings").exists():
        return NOT_RUN
    found = re.search(
        r"\*\*What the paper leaves open\.\*\* (.*)$", _page("readings"), re.MULTILINE
    )
    assert found is not None
    return found[1]


def profiles() -> str:
    """Return how long each profile takes."""
    rows = [row for row in results("reproduce")["rows"] if "profile" in row]
    lines = []
    for row in rows:
        seconds = row.get("measured_seconds", row.get("predicted_seconds"))
        how = "measured" if "measured_seconds" in row else "predicted from processor time"
        lines.append([f"`{row['profile']}`", f"{row['jobs']:,}", _duration(seconds), how])
    return table(["profile", "jobs", "on two cores", ""], lines)


def _duration(seconds: float | None) -> str:
    if seconds is None:
        return "–"
    if seconds < 120:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"


def evaluation() -> str:
    """Return every experiment as it declares itself."""
    lines = [
        [f"`{each.name}`", each.paper or "beyond it", each.about.rstrip(".")]
        for each in experiments()
    ]
    return table(["name", "in the paper", "what"], lines)


def _printed_triple(row: dict[str, Any]) -> str:
    return " / ".join(_as_printed(row[name]) for name in MEASURES)


def _as_printed(value: float) -> str:
    return f"{value:g}".removeprefix("0")


def _gaps(row: dict[str, Any]) -> str:
    return " / ".join(short(row[name]) for name in MEASURES[1:])


def _rows(name: str) -> pd.DataFrame:
    rows = pd.read_parquet(RESULTS / "reproduce" / "rows.parquet")
    if "track" not in rows:
        rows = rows.assign(track=TUNED)
    return rows[rows["experiment"] == name]


def _summary() -> dict[str, Any]:
    text = (RESULTS / "reproduce" / "summary.json").read_text(encoding="utf-8")
    found: dict[str, Any] = json.loads(text)
    return found


def _page(folder: str) -> str:
    return (RESULTS / folder / "index.md").read_text(encoding="utf-8")


BLOCKS: Blocks = {
    "minute": minute,
    "committed-run": missing,
    "against-control": against_control,
    "reproduced": reproduced,
    "table1-published": table1_published,
    "table1-tuned": table1_tuned,
    "small-alpha": small_alpha,
    "verdicts": verdicts,
    "verdicts-together": together,
    "readings": readings,
    "nearest-reading": nearest_reading,
    "profiles": profiles,
    "experiments": evaluation,
}
