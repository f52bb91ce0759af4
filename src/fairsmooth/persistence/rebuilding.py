"""From the checked contents of a file to a classifier, or to one that only predicts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from fairsmooth._extras import installed, needs
from fairsmooth._types import Floats
from fairsmooth.core.network import Network
from fairsmooth.core.predictor import Predictor
from fairsmooth.core.rule import FittedRule, read_only
from fairsmooth.exceptions import InputError
from fairsmooth.persistence.contents import Contents

if TYPE_CHECKING:
    from torch import nn

    from fairsmooth.core.build import AnyNetwork
    from fairsmooth.estimator import FairSmoothClassifier


def rebuilt_classifier(contents: Contents, module: nn.Module | None) -> FairSmoothClassifier:
    """Return the classifier of a file; a Predictor where what trains is not installed."""
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


def rebuilt_steps(plain: Mapping[str, Any] | None, classifier: Any) -> Any:
    """Return the pipeline that ends in the classifier, if the file has its steps."""
    if plain is None:
        return None
    if not installed("sklearn"):
        raise needs("train", "A pipeline")
    from fairsmooth.persistence.pipelines import rebuilt_pipeline

    return rebuilt_pipeline(plain, classifier)
