"""The claims on data, held against what the data allow."""

from collections.abc import Mapping

import pandas as pd

from fairsmooth.experiments.claims.claim import Predicate
from fairsmooth.experiments.claims.verdict import FAILS, HOLDS, UNKNOWN, Verdict, every
from fairsmooth.experiments.declaration import ROUNDING


def printed_reachable(printed: Mapping[str, float], column: str) -> Predicate:
    """The printed accuracy of every case, less its rounding, is at most its ceiling."""

    def one(rows: pd.DataFrame, case: str) -> Verdict:
        found = rows.loc[(rows["case"] == case) & (rows["status"] == "done"), column]
        if found.empty:
            return Verdict(UNKNOWN, f"{case}: not computed")
        ceiling = float(found.iloc[0])
        holds = printed[case] - ROUNDING <= ceiling
        evidence = f"{case}: printed {printed[case]:g}, ceiling {ceiling:.4f}"
        return Verdict(HOLDS if holds else FAILS, evidence)

    return lambda rows: every([one(rows, case) for case in printed])


def sizes_are(sizes: Mapping[str, tuple[int, int]]) -> Predicate:
    """Every dataset has the stated numbers of rows and columns."""

    def one(rows: pd.DataFrame, dataset: str) -> Verdict:
        found = rows[rows["case"].str.startswith(dataset) & (rows["status"] == "done")]
        if found.empty:
            return Verdict(UNKNOWN, f"{dataset}: not computed")
        size = (int(found["rows"].iloc[0]), int(found["columns"].iloc[0]))
        evidence = f"{dataset}: {size[0]:,} rows, {size[1]} columns"
        return Verdict(HOLDS if size == sizes[dataset] else FAILS, evidence)

    return lambda rows: every([one(rows, dataset) for dataset in sizes])
