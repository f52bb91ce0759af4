"""From a fitted classifier to a file, and back."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np

import fairsmooth
from fairsmooth._extras import installed, needs
from fairsmooth._types import Floats
from fairsmooth.core.network import Network
from fairsmooth.core.predictor import Predictor
from fairsmooth.core.rule import FittedRule, read_only
from fairsmooth.data.encoders import Encoder
from fairsmooth.exceptions import FairSmoothError, InputError, MissingExtra, ModelFileError
from fairsmooth.persistence import layout
from fairsmooth.persistence.contents import Contents, checked, read_contents
from fairsmooth.persistence.versions import FORMAT

if TYPE_CHECKING:
    from torch import nn

    from fairsmooth.core.build import AnyNetwork
    from fairsmooth.estimator import FairSmoothClassifier


@dataclass(frozen=True)
class SavedModel:
    """What a model file holds.

    Attributes
    ----------
    classifier : FairSmoothClassifier
        Fitted.
    encoder : TableEncoder, ForecastEncoder or None
        Turns a table with the original columns into the classifier's features.
    training : mapping
        What was noted of the training table: columns and their roles, rows, provenance.
    guarantee : mapping or None
        A guarantee of the gaps between groups, as plain data.
    """

    classifier: FairSmoothClassifier
    encoder: Encoder | None = None
    training: Mapping[str, Any] = field(default_factory=dict)
    guarantee: Mapping[str, Any] | None = None


def save(
    classifier: FairSmoothClassifier,
    path: str | os.PathLike[str],
    *,
    encoder: Encoder | None = None,
    training: Mapping[str, Any] | None = None,
    guarantee: Any = None,
) -> None:
    """Write a fitted classifier to one file, atomically: the whole file or none of it.

    Parameters
    ----------
    classifier : FairSmoothClassifier
        Fitted.
    path : path
        Where to write.
    encoder : TableEncoder or ForecastEncoder, optional
        The one that made the classifier's features.
    training : mapping, optional
        Notes on the training table; :mod:`fairsmooth.persistence.table` lists them.
    guarantee : GapGuarantee or mapping, optional
        Travels with the model. The digest of the model does not depend on it.
    """
    contents = _contents(classifier, encoder, training, guarantee)
    layout.write(path, layout.canonical(contents.description.plain), contents.tensors)


def model_digest(
    classifier: FairSmoothClassifier,
    *,
    encoder: Encoder | None = None,
    training: Mapping[str, Any] | None = None,
) -> str:
    """Return the digest that a file of this model would have: see :attr:`Contents.digest`."""
    return _contents(classifier, encoder, training, None).digest


def _contents(
    classifier: FairSmoothClassifier,
    encoder: Encoder | None,
    training: Mapping[str, Any] | None,
    guarantee: Any,
) -> Contents:
    """Return what a file will hold, checked: what could not be read must not be written."""
    plain = _plain(classifier)
    plain["encoder"] = None if encoder is None else encoder.to_dict()
    plain["table"] = dict(training) if training else None
    if guarantee is not None:
        plain["guarantee"] = guarantee.to_dict() if hasattr(guarantee, "to_dict") else guarantee
    try:
        tensors = _tensors(classifier) | ({} if encoder is None else encoder.tensors())
        return checked(layout.canonical(plain), tensors)
    except (TypeError, ValueError) as error:
        raise InputError(f"Expected a model that can be written to a file, got: {error}") from error


def load(path: str | os.PathLike[str], *, module: nn.Module | None = None) -> FairSmoothClassifier:
    """Read a classifier from a file written by :func:`save`.

    Parameters
    ----------
    path : path
        The model file.
    module : torch.nn.Module, optional
        Needed for models trained with ``module=``: a file holds weights, not code.
    """
    return read_model(path, module=module).classifier


def read_model(path: str | os.PathLike[str], *, module: nn.Module | None = None) -> SavedModel:
    """Read a classifier together with its column encoder, notes and guarantee."""
    contents = read_contents(path)
    description = contents.description
    try:
        classifier = _rebuild(contents, module)
    except MissingExtra:
        raise
    except (TypeError, ValueError, FairSmoothError) as error:
        raise ModelFileError(
            f"Expected a model file of this library, got {Path(path)}: {error}"
        ) from error
    guarantee = description.plain["guarantee"]
    return SavedModel(classifier, description.encoder, description.table or {}, guarantee)


def _plain(classifier: FairSmoothClassifier) -> dict[str, Any]:
    from fairsmooth.persistence.modules import plain_architecture

    names = getattr(classifier, "feature_names_in_", None)
    fitted = _fitted_settings(classifier)
    calibration = classifier.calibration_
    return {
        **({} if calibration is None else {"calibration": calibration.to_dict()}),
        "format": FORMAT,
        "library": fairsmooth.__version__,
        "architecture": plain_architecture(classifier.architecture_),
        "link": fitted["link"],
        "sigma": float(fitted["sigma"]),
        "center": fitted["center"],
        "threshold": float(classifier.threshold_),
        "smoothing": {"method": fitted["smoothing"], "n_draws": int(fitted["n_draws"])},
        "groups": [_plain_label(group) for group in classifier.groups_],
        "classes": [_plain_label(label) for label in classifier.classes_.tolist()],
        "features": {
            "count": int(classifier.n_features_in_),
            "names": None if names is None else [str(name) for name in names],
        },
        "certificate": classifier.certificate_.to_dict(),
        "parameters": _constructor_settings(classifier) | fitted,
        "guarantee": None,
    }


def _fitted_settings(classifier: FairSmoothClassifier) -> dict[str, Any]:
    """Return the settings that the fitted rule uses, as they were when it was fitted."""
    names = ("link", "sigma", "center", "smoothing", "n_draws")
    return {name: _number(getattr(classifier.rule_, name)) for name in names}


def _constructor_settings(classifier: FairSmoothClassifier) -> dict[str, Any]:
    settings = classifier.get_params(deep=False)
    settings.pop("module")
    settings.pop("callback")
    sizes = settings["hidden_layer_sizes"]
    settings["hidden_layer_sizes"] = sizes if isinstance(sizes, int) else list(map(int, sizes))
    if not isinstance(settings["random_state"], int):
        settings["random_state"] = None  # a generator's state is not part of a model
    return {name: _number(value) for name, value in settings.items()}


def _number(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value


def _tensors(classifier: FairSmoothClassifier) -> dict[str, Floats]:
    from fairsmooth.persistence.modules import fixed_tensors

    tensors = {
        "group_parameters": classifier.group_parameters_,
        "parameters": classifier.parameters_,
        **fixed_tensors(classifier.architecture_),
    }
    if classifier.free_group_parameters_ is not None:
        tensors["free_group_parameters"] = classifier.free_group_parameters_
    return {name: np.ascontiguousarray(tensor) for name, tensor in tensors.items()}


def _rebuild(contents: Contents, module: nn.Module | None) -> FairSmoothClassifier:
    description, tensors = contents.description, contents.tensors
    plain = description.plain
    free = tensors.get("free_group_parameters")
    # The centre and the numbers of the file: another machine may compute another last digit.
    rule = FittedRule(
        architecture=_architecture(plain["architecture"], module, tensors),
        group_parameters=read_only(tensors["group_parameters"]),
        parameters=read_only(tensors["parameters"]),
        free_group_parameters=None if free is None else read_only(free),
        sigma=float(plain["sigma"]),
        link=plain["link"],
        smoothing=plain["smoothing"]["method"],
        n_draws=plain["smoothing"]["n_draws"],
        center=plain["center"],
        threshold=float(plain["threshold"]),
        certificate=contents.certificate,
        calibration=description.calibration,
    )
    known: dict[str, Any] = {
        "groups": description.groups,
        "classes": np.array(description.classes),
        "n_features": plain["features"]["count"],
        "names": plain["features"]["names"],
    }
    if installed("torch") and installed("sklearn"):
        return _estimator(rule, module, plain["parameters"], **known)
    # It has what prediction uses of an estimator; whatever more is asked for needs the extra.
    return cast("FairSmoothClassifier", Predictor(rule, **known))


def _estimator(
    rule: FittedRule,
    module: nn.Module | None,
    settings: Mapping[str, Any],
    *,
    groups: tuple[Any, ...],
    classes: Any,
    n_features: int,
    names: list[str] | None,
) -> FairSmoothClassifier:
    from fairsmooth.estimator import FairSmoothClassifier

    classifier = FairSmoothClassifier(module=module, **settings)
    classifier.groups_ = groups
    classifier.classes_ = classes
    classifier.history_ = ()
    classifier.n_iter_ = 0
    classifier.n_features_in_ = n_features
    if names is not None:
        classifier.feature_names_in_ = np.array(names, dtype=object)
    classifier.rule_ = rule
    return classifier


def _architecture(
    plain: Mapping[str, Any], module: nn.Module | None, tensors: Mapping[str, Floats]
) -> AnyNetwork:
    if plain["kind"] != "module":
        hidden = tuple(plain["hidden_layer_sizes"])
        if hidden and not installed("torch"):
            raise needs("train", "A network")
        return Network(plain["n_features"], hidden, plain["activation"])
    if module is None:
        raise InputError(
            f"Expected the module {plain['name']} to be given, got none. "
            "A model file holds weights, not code: call load(path, module=...)."
        )
    from fairsmooth.core.architecture import ModuleNetwork
    from fairsmooth.core.build import build
    from fairsmooth.persistence.modules import restore

    architecture = build(module, n_features=0, hidden_layer_sizes=(), activation="relu")
    assert isinstance(architecture, ModuleNetwork)
    restore(architecture, plain, tensors)
    return architecture


def _plain_label(label: Any) -> Any:
    if isinstance(label, tuple):
        return [_plain_label(part) for part in label]
    if label is None or isinstance(label, str | int | float | bool):
        return label
    raise InputError(
        f"Expected labels that are text, numbers or booleans, got {label!r}. "
        "Convert labels to text before fitting."
    )
