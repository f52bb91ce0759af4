"""``predict`` and ``audit`` of a folder, part by part: each once, by processes or a cluster."""

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fairsmooth.exceptions import InputError

if TYPE_CHECKING:
    from fairsmooth.metrics import Audit
    from fairsmooth.tables import TableModel
    from fairsmooth.tables.part_folder import PartFolder


def wants_parts(
    data: Path, output: Path | None, *, jobs: int, scheduler: str | None, asked: bool = False
) -> bool:
    """Tell whether a folder is to be worked on part by part: where the output is a folder too."""
    parts = data.is_dir() and output is not None and (output.is_dir() or not output.suffix)
    if not parts and (asked or jobs > 1 or scheduler is not None):
        raise InputError(
            "Expected a folder of Parquet files, and a folder to write, to work on part by part, "
            f"got {data}" + (f" and {output}." if output is not None else " and no folder.")
        )
    return parts


def predict_by_parts(
    model: Path,
    data: Path,
    output: Path,
    options: Mapping[str, Any],
    *,
    jobs: int,
    scheduler: str | None,
) -> None:
    """Write one file of scores for every file of a table."""
    from fairsmooth.cli.output import print_notes, say
    from fairsmooth.cli.reading import guesses
    from fairsmooth.tables.part_work import predict_part

    folder = _folder(output, "predict", model, data, options)
    print_notes(guesses(data))
    done = list(_worked(predict_part, folder, jobs, scheduler))
    rows, lost = (sum(each) for each in zip(*done, strict=True)) if done else (0, 0)
    earlier = len(folder.jobs) - len(done)
    say(
        f"Wrote {rows:,} rows in {len(done)} parts to {output}"
        + (f"; {earlier} were there already." if earlier else ".")
    )
    if lost:
        say(f"{lost:,} of them could not be scored; the column 'reason' says why.")


def audit_by_parts(
    model: Path,
    data: Path,
    parts: Path,
    options: Mapping[str, Any],
    *,
    jobs: int,
    scheduler: str | None,
) -> "tuple[TableModel, Audit, list[str]]":
    """Score every file of a table into a file, then audit all of them; return it with notes."""
    from fairsmooth.cli.reading import guesses
    from fairsmooth.metrics.auditing.in_parts import audit_parts
    from fairsmooth.tables import TableModel
    from fairsmooth.tables.part_work import audit_part, read_scored

    loaded = TableModel.load(model)
    folder = _folder(parts, "audit", model, data, options)
    earlier = len(folder.jobs) - len(folder.waiting)
    told = [note for notes in _worked(audit_part, folder, jobs, scheduler) for note in notes]
    groups = loaded.classifier.groups_
    scored = [read_scored(path, len(groups)) for path in folder.targets]
    if told and not any(len(part.scores) for part in scored):
        raise InputError(min(told))
    if earlier:
        told.append(f"{earlier} parts were there already; notes on them were given at the time.")
    told.append("Curves under shift are left out: they look at all rows at once.")
    return loaded, audit_parts(loaded.classifier, scored), [*guesses(data), *sorted(told)]


def _folder(
    output: Path, what: str, model: Path, data: Path, options: Mapping[str, Any]
) -> "PartFolder":
    from fairsmooth.cli.targets import require_folder
    from fairsmooth.tables import TableModel
    from fairsmooth.tables.part_folder import PartFolder

    if data.resolve() in (output.resolve(), *output.resolve().parents):
        raise InputError(f"Expected an output outside the table's folder {data}, got {output}.")
    require_folder(output, [], inputs=[data, model])
    # A damaged model is refused before anything is written.
    loaded = TableModel.load(model)
    roles = loaded.roles if what == "audit" else None
    return PartFolder.of(
        output, what=what, model=model, table=data, options=options, text=loaded.text_columns,
        label=None if roles is None else roles.label,
    )  # fmt: skip


def _worked(
    work: Callable[[Any], Any], folder: "PartFolder", jobs: int, scheduler: str | None
) -> Iterator[Any]:
    from fairsmooth.cli.output import progress
    from fairsmooth.distributed.parts import work_on_parts

    waiting = folder.waiting
    if not waiting:
        return
    with progress("parts", total=len(folder.jobs)) as update:
        update(completed=len(folder.jobs) - len(waiting))
        for result in work_on_parts(work, waiting, n_jobs=jobs, scheduler=scheduler):
            update(advance=1)
            yield result
