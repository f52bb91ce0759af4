"""``train`` by several ranks that ``torchrun`` started: each reads its rows, rank 0 speaks."""

import json
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import typer

from fairsmooth.cli.main import Stopped
from fairsmooth.cli.output import progress, say
from fairsmooth.cli.training import print_fitted
from fairsmooth.core.ranks import Ranks
from fairsmooth.data.encoding import TableEncoder
from fairsmooth.data.files.shares import read_share
from fairsmooth.data.roles import Roles
from fairsmooth.distributed.process_group import LostRank, joined
from fairsmooth.estimator import FairSmoothClassifier
from fairsmooth.exceptions import InputError
from fairsmooth.tables import TableModel
from fairsmooth.tables.fitting import Fitted
from fairsmooth.tables.shares import fit_share

RANK = "{rank}"
_STOPPED = "Stopped with the other ranks: one of them ended, or all were asked to. Nothing written."


def train_by_ranks(
    data: Path,
    output: Path,
    roles: Roles,
    classifier: FairSmoothClassifier,
    *,
    apart: bool,
    encoder: Path | None,
    reading: dict[str, Any],
    json_output: bool,
    **how: Any,
) -> None:
    """Train together, then write and print once.

    With ``{rank}`` in the names of the files, every rank reads, or writes, one of its own.
    """
    began = time.perf_counter()
    with one_voice() as ranks:
        agreed = ranks.together(lambda: None if encoder is None else read_encoder(encoder))
        text = [] if agreed is None else agreed.text_columns
        whole = apart or RANK in str(data)
        table = read_share(own_path(data, ranks), ranks, whole=whole, text=text, **reading)
        with _progress(ranks, classifier) as step:
            model = fit_share(
                table, roles, ranks, classifier=classifier, encoder=agreed, apart=apart,
                step=step, **how,
            )  # fmt: skip
        _write(model, output, ranks)
        if ranks.rank == 0:
            assert model.measured is not None  # rank 0 has the audit
            seconds = time.perf_counter() - began
            print_fitted(Fitted(model, model.measured, None, seconds), json_output)
            say(f"Wrote {own_path(output, ranks)}.")


def own_path(path: Path, ranks: Ranks) -> Path:
    """Put the number of the rank where a path has ``{rank}``."""
    return Path(str(path).replace(RANK, str(ranks.rank)))


def read_encoder(path: Path) -> TableEncoder:
    """Read what columns become, from a model file or from JSON, trusting neither."""
    if path.suffix == ".json":
        try:
            return TableEncoder.from_dict(json.loads(path.read_text(encoding="utf-8")))
        except (OSError, ValueError) as error:
            raise InputError(f"Expected an encoder as JSON in {path}, got: {error}") from error
    found = TableModel.load(path).encoder
    if not isinstance(found, TableEncoder):
        raise InputError(
            f"Expected a model whose columns are binned or standardised in {path}, got another."
        )
    return found


def _write(model: TableModel, output: Path, ranks: Ranks) -> None:
    path, saved = own_path(output, ranks), False

    def write() -> None:
        nonlocal saved
        if ranks.rank == 0 or RANK in str(output):
            model.save(path)
            saved = True

    try:
        ranks.together(write)
    except LostRank as error:
        # Too late for "nothing was written": all had agreed on the model, and rank 0 wrote it.
        what = f"{path} was written and is whole" if saved else f"If {path} is there, it is whole"
        raise LostRank(error.reason, f"{what}.") from error


@contextmanager
def one_voice() -> Iterator[Ranks]:
    """Meet the other ranks; what all are told alike, rank 0 tells the user."""
    rank = None
    try:
        with joined() as ranks, warnings.catch_warnings():
            rank = ranks.rank
            if rank:
                warnings.simplefilter("ignore")
            yield ranks
    except InputError as error:
        if rank:
            raise typer.Exit(2) from error
        raise
    except Stopped as stopped:
        say(_STOPPED)
        raise typer.Exit(128 + stopped.number) from stopped


@contextmanager
def _progress(ranks: Ranks, classifier: FairSmoothClassifier) -> Iterator[Callable[[str], None]]:
    """Show a bar on rank 0."""
    if ranks.rank:
        yield lambda text: None
        return
    with progress("agreeing on columns", total=classifier.max_iter) as update:
        classifier.callback = lambda record: update(completed=record.step)
        yield lambda text: update(description=text)
        classifier.callback = None
