"""``fairsmooth list``: what there is to choose from."""

from collections.abc import Iterable
from enum import StrEnum
from typing import Annotated

import typer
from rich.table import Table

from fairsmooth.cli.output import results

NAME = "list"


class What(StrEnum):
    """What can be listed."""

    datasets = "datasets"
    methods = "methods"
    experiments = "experiments"


def command(
    what: Annotated[What, typer.Argument(help="datasets, methods or experiments.")],
) -> None:
    """List datasets, methods or experiments."""
    columns, rows = {"datasets": _datasets, "methods": _methods, "experiments": _experiments}[
        what
    ]()
    table = Table(*columns)
    for row in rows:
        table.add_row(*row)
    results.print(table)


Rows = tuple[tuple[str, ...], Iterable[tuple[str, ...]]]


def _datasets() -> Rows:
    from fairsmooth.datasets import datasets

    return ("name", "sensitive", "about"), [
        (entry.name, ", ".join(entry.sensitive), entry.description) for entry in datasets()
    ]


def _methods() -> Rows:
    from fairsmooth.baselines import methods

    return ("name", "method", "optimises", "reference"), [
        (method.name, method.label, method.optimises, method.reference) for method in methods()
    ]


def _experiments() -> Rows:
    from fairsmooth.experiments import experiments

    return ("name", "paper", "about"), [
        (experiment.name, experiment.paper, experiment.about) for experiment in experiments()
    ]
