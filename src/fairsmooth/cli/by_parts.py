"""``predict`` and ``audit`` of a folder, part by part: each once, by processes or a cluster."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fairsmooth.exceptions import InputError

if TYPE_CHECKING:
    from fairsmooth.metrics import Audit
    from fairsmooth.tables import TableModel


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
    from fairsmooth.tables.predicting import parts_of, predict_part

    _require_folder(output, data, model)
    notes = guesses(data)
    parts, total = parts_of(model, data, output, options)
    rows = unscored = kept = 0
    for made in _worked(predict_part, parts, jobs, scheduler):
        rows, unscored, kept = rows + made.rows, unscored + made.unscored, kept + made.kept
    print_notes(notes)
    before = f", {kept} of them made before" if kept else ""
    say(f"Wrote {rows:,} of {total:,} rows to {output} in {len(parts)} files{before}.")
    if unscored:
        say(f"{unscored:,} of them could not be scored; the column 'reason' says why.")


def audit_by_parts(
    model: Path,
    data: Path,
    output: Path,
    options: Mapping[str, Any],
    *,
    jobs: int,
    scheduler: str | None,
) -> "tuple[TableModel, Audit, list[str]]":
    """Score every file of a table into a file, then audit all of them; return it with notes."""
    from fairsmooth.metrics.auditing.in_parts import audit_parts
    from fairsmooth.tables import TableModel
    from fairsmooth.tables.part_auditing import audit_part, audit_parts_of, read_scored

    _require_folder(output, data, model)
    parts = audit_parts_of(model, data, output, options)
    done = list(_worked(audit_part, parts, jobs, scheduler))
    notes = sorted(note for each in done for note in each.notes)
    kept = sum(each.kept for each in done)
    if kept:
        notes.append(f"{kept} parts were scored before; notes on them were given at the time.")
    notes.append("Curves under shift are left out: they look at all rows at once.")
    loaded = TableModel.load(model)
    scored = [read_scored(part.output) for part in parts]
    return loaded, audit_parts(loaded.classifier, scored), notes


def _require_folder(output: Path, data: Path, model: Path) -> None:
    from fairsmooth.cli.targets import require_folder
    from fairsmooth.data.files.parquet import files_of

    names = [str(file.relative_to(data).with_suffix(".parquet")) for file in files_of(data)]
    require_folder(output, names, inputs=[data, model])


def _worked(
    work: Callable[[Any], Any], parts: Sequence[Any], jobs: int, scheduler: str | None
) -> Iterator[Any]:
    from fairsmooth.cli.output import progress
    from fairsmooth.distributed.parts import work_on_parts

    with progress("parts", total=len(parts)) as update:
        for result in work_on_parts(work, parts, n_jobs=jobs, scheduler=scheduler):
            update(advance=1)
            yield result
