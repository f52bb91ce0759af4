"""Commands that do again what a page tells, spelt so that a shell takes them as they stand."""

import shlex
from collections.abc import Iterator

from fairsmooth.reporting.subject import Subject


def commands(subject: Subject) -> dict[str, str]:
    """Return all of them; the page shows those that have something to repeat."""
    return {
        "certificate": certificate_command(subject),
        "guarantee": guarantee_command(subject),
        "audit": audit_command(subject),
    }


def certificate_command(subject: Subject) -> str:
    """Return how to verify the certificate of a model file."""
    return _spelt("verify", subject.model_file, "--attack", "60")


def guarantee_command(subject: Subject) -> str:
    """Return how to prove a gap guarantee again, and count its rows again where that can be."""
    if subject.guarantee_inside:
        return _spelt("verify", subject.model_file)
    model = () if subject.of_a_column else (subject.model_file,)
    rows = ("--guarantee", subject.guarantee_file, "--data", subject.table_file)
    return _spelt("verify", *model, *rows)


def audit_command(subject: Subject) -> str:
    """Return how to measure again what an audit measured."""
    if subject.of_a_column:
        return _spelt("audit", subject.table_file, *_columns(subject), "--report", "again.html")
    return _spelt("audit", subject.model_file, subject.table_file, "--report", "again.html")


def _columns(subject: Subject) -> Iterator[str]:
    """Yield what a table without a model must be read with, or other rates would come out."""
    yield from ("--scores", str(subject.column))
    if subject.label is not None:
        yield from ("--label", subject.label)
    if subject.named_positive is not None:
        yield from ("--positive", str(subject.named_positive))
    for name in subject.sensitive:
        yield from ("--sensitive", name)
    if subject.threshold is not None:
        yield from ("--threshold", repr(float(subject.threshold)))


def _spelt(*words: str) -> str:
    return shlex.join(("fairsmooth", *words))
