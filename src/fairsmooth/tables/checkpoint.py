"""Where a training of a table is kept while it runs, and what it must be the same as to go on."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Protocol

from fairsmooth.data.roles import Roles
from fairsmooth.estimator import FairSmoothClassifier
from fairsmooth.tables.provenance import Provenance, library_versions
from fairsmooth.training.journal import Journal, count, kept_in, remove

# What of a classifier's settings has no effect on its parameters.
_FREE = ("callback", "verbose")


@dataclass(frozen=True)
class Checkpoint:
    """A folder for the journal of a training.

    Attributes
    ----------
    folder : Path
    resume : bool
        Whether to go on with the journal that is there.
    """

    folder: Path
    resume: bool = False

    @classmethod
    def beside(cls, model: Path, *, resume: bool = False) -> "Checkpoint":
        """Return the folder beside the model to be written."""
        return cls(model.with_name(f"{model.name}.checkpoint"), resume)

    @property
    def n_steps(self) -> int:
        """Passes or epochs that are kept."""
        return count(self.folder)

    def remove(self) -> None:
        """Remove the journal, now that the model is written."""
        remove(self.folder)


class Trainable(Protocol):
    """Rows to train on, and where they come from."""

    @property
    def roles(self) -> Roles:
        """Which column plays which part."""

    @property
    def provenance(self) -> Provenance:
        """Of the model to come."""


@contextmanager
def kept(
    checkpoint: Checkpoint | None,
    classifier: FairSmoothClassifier,
    parts: Trainable,
    **options: Any,
) -> Iterator[None]:
    """Let the training in this block use the journal of this data and these settings."""
    if checkpoint is None:
        yield
        return
    params = classifier.get_params(deep=False)
    facts = {
        "table": parts.provenance.digest,
        "roles": asdict(parts.roles),
        **options,
        **{name: value for name, value in params.items() if name not in _FREE},
        "versions": library_versions(),
    }
    with kept_in(Journal.open(checkpoint.folder, facts, resume=checkpoint.resume)):
        yield
