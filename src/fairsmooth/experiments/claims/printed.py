"""Printed numbers, read from a text table."""

import pandas as pd

from fairsmooth.exceptions import InputError

PRINTED = "printed"


def read_printed(text: str) -> pd.DataFrame:
    """Read a table of printed numbers into one row per case and method.

    The first line names the cases, the second the measures of each case in
    turn, every further line a method and its numbers; ``-`` is not printed.

    Examples
    --------
    >>> read_printed('''
    ... case    adult-sex
    ... method  accuracy   demographic_parity
    ... arl     .84        .13
    ... ''')[["case", "method", "accuracy"]].values.tolist()
    [['adult-sex', 'arl', 0.84]]
    """
    lines = [line.split() for line in text.strip().splitlines()]
    if not lines:
        return pd.DataFrame(columns=["source", "case", "method", "trial"])
    (_, *cases), (_, *metrics), *body = lines
    width = len(metrics) // len(cases)
    rows = []
    for method, *numbers in body:
        if len(numbers) != len(metrics):
            raise InputError(
                f"Expected {len(metrics)} printed numbers for {method!r}, got {len(numbers)}."
            )
        for position, case in enumerate(cases):
            part = slice(position * width, (position + 1) * width)
            found = dict(zip(metrics[part], map(_number, numbers[part]), strict=True))
            rows.append({"source": PRINTED, "case": case, "method": method, "trial": 0, **found})
    return pd.DataFrame(rows)


def _number(text: str) -> float:
    return float("nan") if text == "-" else float(text)
