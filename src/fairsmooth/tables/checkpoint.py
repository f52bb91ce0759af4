"""Where a training of a table is kept while it runs, and what it must be the same as to go on."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from fairsmooth.data.roles import Roles
from fairsmooth.estimator import FairSmoothClassifier
from fairsmooth.tables.provenance import library_versions
from fairsmooth.training.journal import Journal, kept_in, remove

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

    @contextmanager
    def kept(
        self, classifier: FairSmoothClassifier, roles: Roles, *, table: str, **options: Any
    ) -> Iterator[Journal]:
        """Let the training in this block use the journal of this data and these settings.

        ``table`` is the digest of the data.
        """
        params = classifier.get_params(deep=False)
        facts = {
            "table": table,
            "roles": asdict(roles),
            **options,
            **{name: value for name, value in params.items() if name not in _FREE},
            "versions": library_versions(),
        }
        journal = Journal.open(self.folder, facts, resume=self.resume)
        with kept_in(journal):
            yield journal

    def remove(self) -> None:
        """Remove the journal, now that the model is written."""
        remove(self.folder)
