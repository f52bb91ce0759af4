"""From a fitted classifier to a file, and back."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import fairsmooth
from fairsmooth._types import Floats
from fairsmooth.data.encoders import Encoder
from fairsmooth.exceptions import FairSmoothError, InputError, MissingExtra, ModelFileError
from fairsmooth.persistence import layout
from fairsmooth.persistence.contents import Contents, checked, read_contents
from fairsmooth.persistence.rebuilding import rebuilt_classifier, rebuilt_steps
from fairsmooth.persistence.versions import FORMAT

if TYPE_CHECKING:
    from torch import nn

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
    pipeline : Pipeline or None
        The scikit-learn pipeline that ends in the classifier, if one was saved.
    """

    classifier: FairSmoothClassifier
    encoder: Encoder | None = None
    training: Mapping[str, Any] = field(default_factory=dict)
    guarantee: Mapping[str, Any] | None = None
    pipeline: Any = None


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
    classifier : FairSmoothClassifier or Pipeline
        Fitted. A scikit-learn pipeline must end in one; its other steps may be
        those that :data:`fairsmooth.persistence.pipelines.CLASSES` lists.
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
    plain = _plain_with_steps(classifier)
    classifier = getattr(classifier, "steps", [[None, classifier]])[-1][1]
    plain["encoder"] = None if encoder is None else encoder.to_dict()
    plain["table"] = dict(training) if training else None
    if guarantee is not None:
        plain["guarantee"] = guarantee.to_dict() if hasattr(guarantee, "to_dict") else guarantee
    try:
        tensors = _tensors(classifier) | ({} if encoder is None else encoder.tensors())
        return checked(layout.canonical(plain), tensors)
    except (TypeError, ValueError) as error:
        raise InputError(f"Expected a model that can be written to a file, got: {error}") from error


def _plain_with_steps(model: Any) -> dict[str, Any]:
    """Describe a classifier, and the steps before it if it ends a pipeline."""
    from sklearn.pipeline import Pipeline

    from fairsmooth.estimator import FairSmoothClassifier
    from fairsmooth.persistence.pipelines import plain_pipeline

    last = model.steps[-1][1] if isinstance(model, Pipeline) else model
    if not isinstance(last, FairSmoothClassifier):
        raise InputError(
            "Expected a FairSmoothClassifier, or a pipeline that ends in one, got "
            f"{type(last).__name__}."
        )
    plain = _plain(last)
    return plain if last is model else {**plain, "pipeline": plain_pipeline(model)}


def load(path: str | os.PathLike[str], *, module: nn.Module | None = None) -> Any:
    """Read a classifier, or the pipeline that ends in it, from a file written by :func:`save`.

    Parameters
    ----------
    path : path
        The model file.
    module : torch.nn.Module, optional
        Needed for models trained with ``module=``: a file holds weights, not code.
    """
    saved = read_model(path, module=module)
    return saved.classifier if saved.pipeline is None else saved.pipeline


def read_model(path: str | os.PathLike[str], *, module: nn.Module | None = None) -> SavedModel:
    """Read a classifier together with its column encoder, notes and guarantee."""
    contents = read_contents(path)
    description = contents.description
    try:
        classifier = rebuilt_classifier(contents, module)
        pipeline = rebuilt_steps(description.plain.get("pipeline"), classifier)
    except MissingExtra:
        raise
    except (TypeError, ValueError, FairSmoothError) as error:
        raise ModelFileError(
            f"Expected a model file of this library, got {Path(path)}: {error}"
        ) from error
    guarantee = description.plain["guarantee"]
    return SavedModel(classifier, description.encoder, description.table or {}, guarantee, pipeline)


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


def _plain_label(label: Any) -> Any:
    if isinstance(label, tuple):
        return [_plain_label(part) for part in label]
    if label is None or isinstance(label, str | int | float | bool):
        return label
    raise InputError(
        f"Expected labels that are text, numbers or booleans, got {label!r}. "
        "Convert labels to text before fitting."
    )
