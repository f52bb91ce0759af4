"""A model file read and checked as a whole, without the libraries that predict."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from fairsmooth._types import Floats
from fairsmooth.core.certificate import Certificate, certify
from fairsmooth.core.confirm import confirm
from fairsmooth.core.parameters import mean_center
from fairsmooth.exceptions import FairSmoothError, InputError, ModelFileError
from fairsmooth.persistence import layout
from fairsmooth.persistence.description import Description, parse

BUFFER = "buffer."
FROZEN = "frozen."


@dataclass(frozen=True)
class Contents:
    """What a model file holds, checked.

    Attributes
    ----------
    description : Description
    tensors : mapping
        ``group_parameters``, ``parameters``, perhaps ``free_group_parameters``, and what
        of a module is fixed: ``buffer.<name>``, ``frozen.<name>``; the forecasters of an
        encoder that has some: ``forecast.<name>``.
    certificate : Certificate
        The one in the file, each number at least the one computed from the weights.
    """

    description: Description
    tensors: Mapping[str, Floats]
    certificate: Certificate

    @property
    def digest(self) -> str:
        """The SHA-256 of everything that a prediction depends on, and of nothing else.

        Provenance, the guarantee and the version of the format are left out: the same
        rule has the same digest whenever and from whatever file it was trained.
        """
        return layout.digest(layout.canonical(self.description.rule), self.tensors)


def read_contents(path: str | os.PathLike[str]) -> Contents:
    """Read a model file and check all of it; every command starts here.

    Raises
    ------
    ModelFileError
        If the file is damaged, altered or no model file, or if its certificate is not
        true of its weights.
    """
    found = layout.read(path)
    try:
        return checked(found.text, found.tensors)
    except (KeyError, TypeError, ValueError, RecursionError, FairSmoothError) as error:
        raise ModelFileError(
            f"Expected a model file of this library, got {Path(path)}: {error}"
        ) from error


def checked(text: str, tensors: Mapping[str, Floats]) -> Contents:
    """Check a description and its tensors against each other."""
    description = parse(text, tensors)
    _require_tensors(description, tensors)
    group_parameters, parameters = tensors["group_parameters"], tensors["parameters"]
    if description.plain["center"] == "mean":
        _require_mean(group_parameters, parameters)
    computed = certify(
        group_parameters,
        sigma=description.plain["sigma"],
        groups=description.groups,
        center=description.plain["center"],
        parameters=parameters,
        slope=1.0 if description.calibration is None else description.calibration.slope,
    )
    return Contents(description, tensors, confirm(description.certificate, computed))


def read_certificate(path: str | os.PathLike[str]) -> Certificate:
    """Return the certificate of a model file, held to the weights beside it."""
    return read_contents(path).certificate


def file_digest(path: str | os.PathLike[str]) -> str:
    """Return the digest of the model in a file: see :attr:`Contents.digest`."""
    return read_contents(path).digest


def _require_tensors(description: Description, tensors: Mapping[str, Floats]) -> None:
    shape = (len(description.groups), description.n_parameters)
    shapes: dict[str, tuple[int, ...]] = {"group_parameters": shape, "parameters": shape[1:]}
    if "free_group_parameters" in tensors:
        shapes["free_group_parameters"] = shape
    encoder = description.encoder
    shapes |= {} if encoder is None else {n: t.shape for n, t in encoder.tensors().items()}
    is_module = description.plain["architecture"]["kind"] == "module"
    for name, tensor in tensors.items():
        extra = is_module and name.startswith((BUFFER, FROZEN))
        if not (name in shapes or extra) or tensor.dtype != np.float64:
            raise InputError(f"Expected the tensors {sorted(shapes)} in float64, got {name!r}.")
        if not np.isfinite(tensor).all():
            raise InputError(f"Expected finite values in {name!r}, got NaN or infinity.")
    for name, expected in shapes.items():
        found = tensors[name].shape if name in tensors else None
        if found != expected:
            raise InputError(f"Expected {name} of shape {expected}, got {found}.")


def _require_mean(group_parameters: Floats, parameters: Floats) -> None:
    """Require the overall parameters to be the mean, added in whatever order.

    Each of two ways of adding K numbers is off by at most K + 4 units in the last
    place of the largest, and by the smallest float64 where that is larger.
    """
    n_groups = len(group_parameters)
    error = np.abs(parameters - mean_center(group_parameters))
    largest = np.abs(group_parameters).max(axis=0)
    if (error > (2 * n_groups + 8) * 2.0**-52 * largest + n_groups * 5e-324).any():
        raise InputError("the overall parameters in the file are not the centre of the groups'.")
