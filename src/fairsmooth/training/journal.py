"""A journal of a training: what was computed, so that a training that was killed can go on.

Solvers are deterministic: from the same start, the same answers lead to the same next question.
So it is answers that are kept. A full-batch solver that begins again gets those of its earlier
passes from the journal, without a look at the rows, until it is where it was; a minibatch solver
takes up its state after the last epoch. Either ends with the bytes it would have ended with.

Every entry is a safetensors file of its own, which appears whole or not at all, with a digest of
its numbers. A journal is read as any file that somebody may have changed: what does not fit is
refused.
"""

import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save

from fairsmooth._atomic import ensure_folder, write_bytes
from fairsmooth.exceptions import InputError

Arrays = dict[str, NDArray[Any]]
FACTS = "training.json"
_ENTRY = "{:06d}.safetensors"
# Beside these, what a process that was killed was writing them to.
_OWN = re.compile(r"(training\.json|[0-9]{6}\.safetensors)|\.(training|[0-9]{6})\..*")
# No honest fact sheet is larger.
_LARGEST_FACTS = 2**24


@dataclass(eq=False)
class Journal:
    """Entries in a folder, written and read in order.

    Attributes
    ----------
    folder : Path
    run : str
        Digest of the facts that every entry must belong to.
    n_known : int
        Entries that an earlier training left.
    """

    folder: Path
    run: str
    n_known: int = 0
    _next: int = field(default=0, repr=False)

    @classmethod
    def open(cls, folder: Path, facts: Mapping[str, Any], *, resume: bool) -> "Journal":
        """Begin a journal, or with ``resume`` go on with the one that is in the folder.

        Raises
        ------
        InputError
            With ``resume``, if there is none, or one of other data or settings.
        """
        plain = json.loads(json.dumps(facts, sort_keys=True, default=repr))
        run = hashlib.sha256(json.dumps(plain, sort_keys=True).encode()).hexdigest()
        known = 0
        if resume and _is_begun(folder):
            _require_same(_read_facts(folder), plain, folder)
            known = count(folder)
        else:
            remove(folder)
            ensure_folder(folder)
            write_bytes(folder / FACTS, json.dumps(plain, indent=1, sort_keys=True).encode())
        return cls(folder, run, known)

    @property
    def at_hand(self) -> bool:
        """Whether the next entry is one that an earlier training left."""
        return self._next < self.n_known

    def recall(self, question: str, shapes: Mapping[str, tuple[int, ...]]) -> Arrays | None:
        """Return the answer to a question if the next entry holds it; None if it must be found.

        Entries of another question, from there on, are of another course of training, as another
        machine may take: they are dropped.
        """
        if not self.at_hand:
            return None
        found, asked = self._read(self._next)
        if asked != question:
            self.n_known = self._next
            return None
        wrong = {name: found[name].shape for name in found if shapes.get(name) != found[name].shape}
        if wrong or found.keys() != shapes.keys():
            raise _foreign(self.folder, f"arrays {wrong or sorted(found)} in entry {self._next}")
        self._next += 1
        return found

    def latest(self, question: str) -> Arrays | None:
        """Return the last answer to a question, passing over all that were kept before it."""
        found = None
        while self.at_hand:
            arrays, asked = self._read(self._next)
            if asked != question:
                break
            found = arrays
            self._next += 1
        return found

    def keep(self, question: str, answer: Arrays) -> None:
        """Write the next entry."""
        # Not by ascontiguousarray, which makes a list of a single number.
        stored = {name: np.asarray(array, order="C") for name, array in answer.items()}
        about = {"run": self.run, "question": question, "numbers": digest_of(stored)}
        write_bytes(self.folder / _ENTRY.format(self._next), save(stored, about))
        self._next += 1

    def foreign(self, what: str) -> InputError:
        """Return the error for an entry that does not fit."""
        return _foreign(self.folder, what)

    def _read(self, number: int) -> tuple[Arrays, str]:
        path = self.folder / _ENTRY.format(number)
        try:
            with safe_open(path, framework="numpy") as file:
                about = file.metadata() or {}
                arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
        except (SafetensorError, OSError) as error:
            raise _foreign(self.folder, f"{path.name}, which cannot be read ({error})") from error
        if about.get("run") != self.run:
            raise _foreign(self.folder, f"{path.name} of another training")
        if not all(array.dtype == np.float64 for array in arrays.values()):
            raise _foreign(self.folder, f"{path.name} with numbers other than float64")
        if not all(np.isfinite(array).all() for array in arrays.values()):
            raise _foreign(self.folder, f"{path.name} with numbers that are not finite")
        if about.get("numbers") != digest_of(arrays):
            raise _foreign(self.folder, f"{path.name} with numbers that were changed")
        return arrays, str(about.get("question"))


_CURRENT: ContextVar[Journal | None] = ContextVar("journal", default=None)


@contextmanager
def kept_in(journal: Journal | None) -> Iterator[None]:
    """Let a training in this block write into a journal, and read what it has."""
    token = _CURRENT.set(journal)
    try:
        yield
    finally:
        _CURRENT.reset(token)


def current() -> Journal | None:
    """Return the journal to write into, if any."""
    return _CURRENT.get()


def question_of(what: str, array: NDArray[Any]) -> str:
    """Name a question by its digest."""
    contents = np.ascontiguousarray(array, dtype="<f8").tobytes()
    return f"{what} {hashlib.sha256(contents).hexdigest()}"


def digest_of(arrays: Arrays) -> str:
    """Name numbers by their digest: a disk may give back others than it was given."""
    sha = hashlib.sha256()
    for name in sorted(arrays):
        sha.update(f"{name} {arrays[name].shape} ".encode() + arrays[name].tobytes())
    return sha.hexdigest()


def count(folder: Path) -> int:
    """Return how many entries a journal has, from the first on."""
    known = 0
    while (folder / _ENTRY.format(known)).is_file():
        known += 1
    return known


def remove(folder: Path) -> None:
    """Remove a journal, and nothing else: other things in a folder are left alone."""
    if not folder.exists():
        return
    others = not folder.is_dir() or any(not _OWN.fullmatch(f.name) for f in folder.iterdir())
    if others and not (folder / FACTS).is_file():
        raise InputError(
            f"Expected a checkpoint or nothing at {folder}, got something else. "
            "Remove it, or write the model elsewhere."
        )
    own = [file for file in folder.iterdir() if _OWN.fullmatch(file.name)]
    # The facts last: what is left if this is cut short is still known for a journal.
    for file in sorted(own, key=lambda file: file.name == FACTS):
        file.unlink(missing_ok=True)
    if not others and not folder.is_symlink():
        with suppress(OSError):  # another training of the same model, begun meanwhile
            folder.rmdir()


def _is_begun(folder: Path) -> bool:
    """Tell whether there is more than a training leaves that is killed as it begins."""
    if not folder.is_dir():
        return folder.exists()
    return any(not file.name.startswith(".training.") for file in folder.iterdir())


def _read_facts(folder: Path) -> dict[str, Any]:
    path = folder / FACTS
    try:
        if path.stat().st_size > _LARGEST_FACTS:
            raise ValueError("it is too large")
        facts = json.loads(path.read_text())
        if not isinstance(facts, dict):
            raise ValueError("it holds no facts")
    except (OSError, ValueError) as error:
        raise _foreign(folder, f"{FACTS} that cannot be read ({error})") from error
    return facts


def _require_same(known: Mapping[str, Any], wanted: Mapping[str, Any], folder: Path) -> None:
    other = sorted(k for k in {*known, *wanted} if known.get(k) != wanted.get(k))
    if other:
        raise InputError(
            f"Expected the checkpoint of this training at {folder}, got one with another "
            f"{', '.join(other)}. Train with the data and settings that it was begun with, or "
            "begin anew without --resume."
        )


def _foreign(folder: Path, what: str) -> InputError:
    return InputError(
        f"Expected a checkpoint at {folder}, got {what}. Remove it and begin anew without --resume."
    )
