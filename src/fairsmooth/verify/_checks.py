"""Verifying a model file: one check after the other."""

import os
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np

from fairsmooth.exceptions import ModelFileError
from fairsmooth.verify._bounds import DISTANCE, LIPSCHITZ, TOTAL_VARIATION, Bound
from fairsmooth.verify._description import BY_GROUP, Description, parse_description
from fairsmooth.verify._exact import Geometry, measure
from fairsmooth.verify._fields import text_of
from fairsmooth.verify._forecasters import check_forecasters
from fairsmooth.verify._json import canonical
from fairsmooth.verify._model_file import Floats, ModelFile, read_model_file, was_a_model
from fairsmooth.verify._trust import calibration, on_trust, smoothing
from fairsmooth.verify.check import Check
from fairsmooth.verify.graph import SUFFIX, verify_graph
from fairsmooth.verify.verification import Verification


def verify(path: str | os.PathLike[str]) -> Verification:
    r"""Confirm the certificate of a model file from its weights alone.

    The file is read, and the bounds are worked out, by code that shares nothing
    with the code that trained and certified the model. Squared distances are
    exact whole numbers; :math:`\pi`, square roots and the error function are
    enclosed by ball arithmetic of rising precision. If the verification holds,
    then for every input ``x`` and every group, with no trust in the trainer,

    .. math:: |N(W^*)(x) - N(W_k)(x)| \le 2\Phi(r_k/2\sigma) - 1 \le \texttt{epsilon\_by\_group}_k

    for the ``W*``, ``W_k`` and ``sigma`` in the file, provided that the base
    classifier maps into [0, 1]. Where scores go through a map
    :math:`\Phi(a\Phi^{-1}(p) + b)`, the same holds for the mapped scores with
    :math:`\sigma/a` in the place of :math:`\sigma`.

    Parameters
    ----------
    path : path-like
        The model file, or an ONNX file made of one (its name ends in ``.onnx``), whose graph is
        then compared with the model that it carries.

    Returns
    -------
    Verification
        One check per fact, and one line for each thing that predictions depend on and
        that a file cannot show. A model file that was damaged or altered gives a
        verification that does not hold.

    Raises
    ------
    ModelFileError
        If the file is not a model, or cannot be read: then there is nothing to judge.

    References
    ----------
    Lemma 2 and Theorem 2, Eq. (12) and (13).

    Examples
    --------
    >>> verify("no-such-file")
    Traceback (most recent call last):
        ...
    fairsmooth.exceptions.ModelFileError: Expected a model file, got no-such-file, which is none:
    Expected a readable file, got: No such file or directory.
    """
    if os.fspath(path).lower().endswith(SUFFIX):
        return verify_graph(path, _verify_file)
    return _verify_file(path)


def _verify_file(path: str | os.PathLike[str]) -> Verification:
    """Verify a model file."""
    try:
        model = read_model_file(path)
    except ModelFileError as error:
        if not was_a_model(path):
            raise ModelFileError(
                f"Expected a model file, got {os.fspath(path)}, which is none: {error}"
            ) from error
        return Verification((Check("file", False, str(error)),))
    opening = (
        Check("file", True, f"{len(model.tensors)} tensors, read to the end"),
        _digest(model),
    )
    try:
        description = parse_description(model.description)
        group_parameters, parameters = _weights(model, description)
        forecasters = _forecasters(model, description)
    except ModelFileError as error:
        return Verification((*opening, Check("description", False, str(error))))
    n_groups, n_parameters = group_parameters.shape
    geometry = measure(group_parameters, parameters)
    return Verification(
        (
            *opening,
            Check("description", True, f"{n_groups} groups, {n_parameters} finite parameters each"),
            _overall(geometry, description),
            _statement(description, n_parameters),
            *_numbers(geometry, description),
            *forecasters,
            *calibration(description),
            smoothing(description),
            *on_trust(description),
        )
    )


def _digest(model: ModelFile) -> Check:
    if model.recomputed_digest() == model.digest:
        return Check("digest", True, f"sha256 {model.digest[:16]}… matches what was read")
    return Check(
        "digest", False, "Expected the sha256 of what was read, got another; it was altered."
    )


def _weights(model: ModelFile, description: Description) -> tuple[Floats, Floats]:
    """Return ``W_k`` and ``W*`` after checking the names, shapes and values of all tensors."""
    groups, length = len(description.groups), description.n_parameters
    shapes = {"group_parameters": (groups, length), "parameters": (length,)}
    if "free_group_parameters" in model.tensors:
        shapes["free_group_parameters"] = (groups, length)
    forecasters = description.rule.forecasters
    beside = set() if forecasters is None else forecasters.names
    for name, tensor in model.tensors.items():
        fixed = description.rule.is_module and name.startswith(("buffer.", "frozen."))
        fixed = fixed or name in beside
        if name not in shapes and not fixed:
            raise ModelFileError(f"Expected no other tensors, got {name!r}.")
        if not np.isfinite(tensor).all():
            raise ModelFileError(f"Expected finite values in {name!r}, got NaN or infinity.")
    for name, shape in shapes.items():
        found = model.tensors[name].shape if name in model.tensors else None
        if found != shape:
            raise ModelFileError(f"Expected {name!r} of shape {shape}, got {found}.")
    return model.tensors["group_parameters"], model.tensors["parameters"]


def _forecasters(model: ModelFile, description: Description) -> tuple[Check, ...]:
    found = description.rule.forecasters
    return () if found is None else (check_forecasters(found, model.tensors),)


def _overall(geometry: Geometry, description: Description) -> Check:
    if description.center != "mean":
        return Check("center", True, "overall parameters as they are; only distances count")
    if geometry.is_mean:
        return Check("center", True, "overall parameters are the mean of the groups', to rounding")
    return Check("center", False, "Expected the mean of the groups' parameters, got another point.")


def _statement(description: Description, n_parameters: int) -> Check:
    """Compare what the certificate says of the model with the model."""
    facts = {
        "sigma": description.sigma,
        "groups": description.groups,
        "n_parameters": n_parameters,
        "center": description.center,
        "slope": description.slope,
    }
    for name, fact in facts.items():
        # A certificate without a slope speaks of scores that go through no map.
        stated = description.certificate.get(name, 1.0)
        number = name in ("sigma", "slope") and not isinstance(stated, bool)
        # Text tells 1 from true, and a list from a tuple it does not.
        if canonical(stated) != canonical(fact) and not (number and stated == fact):
            return Check(
                "statement", False, f"Expected {name} {fact!r} in the certificate, got {stated!r}."
            )
    return Check("statement", True, f"speaks of this model: {', '.join(facts)} agree")


def _numbers(geometry: Geometry, description: Description) -> Iterator[Check]:
    """Compare every number of the certificate with its rigorous value."""
    sigma, radii = description.sigma, geometry.squared_radii
    share = Fraction(len(radii) - 1, len(radii))
    # W* is rounded, or not the mean: the largest radius may exceed (K - 1) d / K.
    paper = max(share**2 * geometry.squared_max_distance, *radii)
    # Distances over sigma / a are distances times a over sigma: exact, since a is a fraction.
    steeper = Fraction(description.slope) ** 2
    steep = tuple(steeper * radius for radius in radii)
    numbers = (
        ("max_distance", DISTANCE, (geometry.squared_max_distance,)),
        ("distances", DISTANCE, radii),
        ("epsilon", LIPSCHITZ, (steeper * paper,)),
        ("epsilon_linear_by_group", LIPSCHITZ, steep),
        ("epsilon_by_group", TOTAL_VARIATION, steep),
        ("epsilon_tight", TOTAL_VARIATION, (max(steep),)),
    )
    for name, bound, squares in numbers:
        labels = description.groups if name in BY_GROUP else ("all groups",)
        rows = zip(labels, description.bounds[name], squares, strict=True)
        yield _compare(name, bound, list(rows), sigma=sigma)


def _compare(
    name: str, bound: Bound, rows: list[tuple[Any, float, Fraction]], *, sigma: float
) -> Check:
    for label, number, squared in rows:
        if not bound.admits(number, squared, sigma=sigma):
            value = bound.text(squared, sigma=sigma)
            return Check(
                name, False, f"Expected at least {value} for {text_of(label)}, got {number!r}."
            )
    label, number, squared = max(rows, key=lambda row: row[2])
    value = bound.text(squared, sigma=sigma)
    return Check(name, True, f"{number!r} is at least {value} ({text_of(label)})")
