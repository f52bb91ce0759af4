"""One piece of work, named by everything that was asked for."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import MISSING, asdict, dataclass, fields
from typing import Any

from fairsmooth._random import seed_from


@dataclass(frozen=True)
class Job:
    """A candidate on held-out rows, a fit, a timing of sampling, a ceiling, or a trade-off.

    Two experiments that need the same fit make equal jobs, so it runs once.

    Attributes
    ----------
    kind : {"candidate", "fit", "draws", "ceiling", "tradeoff", "readings"}
        What is done.
    case, encoding : str
        Such as ``adult-sex`` and ``binned``.
    trial : int
        Which random split.
    contender : str
        Which method, by name; one from outside with the digest of its file.
    parameters : tuple of pairs
        Parameters of the method. A fit whose parameters are still to be chosen has none.
    group_ratio : float or None
        Share of the group in training, if it is changed.
    max_rows, selection_rows, quick
        Budget, see :class:`Profile`.
    extra : tuple of pairs
        Settings of one kind of job alone.
    """

    kind: str
    case: str
    encoding: str
    trial: int = 0
    contender: str = ""
    parameters: tuple[tuple[str, Any], ...] = ()
    group_ratio: float | None = None
    max_rows: int | None = None
    selection_rows: int | None = None
    quick: bool = False
    extra: tuple[tuple[str, Any], ...] = ()

    @property
    def key(self) -> str:
        """A name that equal jobs share; the code that did them has a digest of its own."""
        return key_of(asdict(self))

    @property
    def told(self) -> dict[str, Any]:
        """What was asked for, without what is as usual."""
        usual = {each.name: each.default for each in fields(self)}
        return {name: value for name, value in asdict(self).items() if value != usual[name]}

    @property
    def dataset(self) -> str:
        """The dataset's name."""
        return self.case.split("-", 1)[0]

    @property
    def sensitive(self) -> str:
        """The sensitive attribute."""
        return self.case.split("-", 1)[1]

    @property
    def split_seed(self) -> int:
        """Seed of the split: the same for all methods and encodings."""
        return _seed("split", self.case, self.trial)

    @property
    def seed(self) -> int:
        """Seed of the method: named, so that adding one never moves another's."""
        # A method from outside carries the digest of its file, which is not to move its seed.
        name = self.contender.partition("@")[0]
        return _seed(self.kind, self.case, self.encoding, name, self.trial)


def key_of(plain: Mapping[str, Any]) -> str:
    """Return the key of a job from its fields, as it or a record holds them.

    Fields that are as they would be if left out do not count: a field that is added later
    leaves the keys of earlier records as they are.
    """
    told = {name: json.dumps(value, sort_keys=True) for name, value in plain.items()}
    usual = {
        each.name: json.dumps(each.default) for each in fields(Job) if each.default is not MISSING
    }
    named = {name: value for name, value in told.items() if usual.get(name) != value}
    text = json.dumps(named, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:20]


def _seed(*names: object) -> int:
    # scikit-learn takes 32 bits.
    return seed_from(0, "reproduce", *names) % 2**32
