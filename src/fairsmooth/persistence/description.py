"""The one reader of a model file's description: everything that a prediction depends on."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from fairsmooth._types import Floats
from fairsmooth.core.calibration import Calibration
from fairsmooth.core.certificate import Certificate
from fairsmooth.exceptions import InputError
from fairsmooth.persistence.fields import (
    Object,
    an_object,
    labels,
    object_with,
    one_of,
    real,
    require,
    text,
    texts,
    whole,
)
from fairsmooth.persistence.layout import canonical
from fairsmooth.persistence.networks import read_architecture
from fairsmooth.persistence.table import ROLES, read_table
from fairsmooth.persistence.versions import to_present

if TYPE_CHECKING:
    from fairsmooth.data.encoders import Encoder

LINKS = ("logistic", "probit")
CENTERS = ("mean", "ball")
METHODS = ("auto", "exact", "layerwise", "monte_carlo")
MAX_DRAWS = 10**9
_KEYS = (
    *("format", "library", "architecture", "link", "sigma", "center", "threshold", "smoothing"),
    *("groups", "classes", "features", "certificate", "parameters", "encoder", "table"),
    "guarantee",
)
# Where a model came from and what was found out about it, but not what it predicts.
_BESIDE = ("format", "library", "parameters", "certificate", "guarantee")


@dataclass(frozen=True)
class Description:
    """What a model file says of a model, each entry of its type and none against another.

    Attributes
    ----------
    plain : mapping
        The description as JSON holds it, in the present format.
    n_parameters : int
        Length of one parameter vector.
    groups, classes : tuple
        Labels of the groups, and of the negative and the positive class.
    certificate : Certificate
        As stated; whether it is true is for the weights to say.
    encoder : TableEncoder, ForecastEncoder or None
    table : mapping or None
    calibration : Calibration or None
    """

    plain: Mapping[str, Any]
    n_parameters: int
    groups: tuple[Any, ...]
    classes: tuple[Any, Any]
    certificate: Certificate
    encoder: "Encoder | None"
    table: Mapping[str, Any] | None
    calibration: Calibration | None = None

    @property
    def rule(self) -> dict[str, Any]:
        """The entries that a prediction depends on, without provenance."""
        rule = {name: entry for name, entry in self.plain.items() if name not in _BESIDE}
        rule["table"] = {name: entry for name, entry in (self.table or {}).items() if name in ROLES}
        return rule


def parse(text_of_file: str, tensors: Mapping[str, Floats]) -> Description:
    """Read the description of a file of any format; forecasters are among its tensors."""
    plain = json.loads(text_of_file)
    # One spelling: no key twice, no NaN, nothing that another reader would take otherwise.
    require(canonical(plain) == text_of_file, "canonical JSON", "another spelling")
    return read_description(to_present(an_object(plain, "the description")), tensors)


def read_description(plain: Object, tensors: Mapping[str, Floats]) -> Description:
    """Check a description of the present format, entry by entry."""
    plain = object_with(
        plain, "the description", required=_KEYS, optional=("calibration", "pipeline")
    )
    text(plain["library"], "library")
    one_of(plain["link"], "link", LINKS)
    one_of(plain["center"], "center", CENTERS)
    real(plain["sigma"], "sigma", low=0.0)
    real(plain["threshold"], "threshold", low=0.0, high=1.0)
    calibration = _calibration(plain)
    architecture = read_architecture(plain["architecture"])
    _smoothing(plain["smoothing"], architecture.exact, architecture.layered)
    groups = labels(plain["groups"], "groups")
    classes = _classes(plain["classes"])
    encoder = _encoder(plain["encoder"], tensors)
    _features(plain["features"], architecture.n_features, encoder)
    _pipeline(plain)
    table = read_table(plain["table"])
    if table is not None and "positive" in table:
        known = ((0, 1), (table["negative"], table["positive"]))
        require(classes in known, f"classes {known[0]} or {known[1]}, as in table", classes)
    _settings(plain)
    guarantee = plain["guarantee"]
    require(guarantee is None or isinstance(guarantee, dict), "a guarantee or none", guarantee)
    return Description(
        plain=plain,
        n_parameters=architecture.n_parameters,
        groups=groups,
        classes=classes,
        certificate=Certificate.from_dict(plain["certificate"]),
        encoder=encoder,
        table=table,
        calibration=calibration,
    )


def _calibration(plain: Object) -> Calibration | None:
    """Return the map that scores go through; a file without the entry has none."""
    if "calibration" not in plain:
        return None
    entry = object_with(plain["calibration"], "calibration", required=("slope", "offset"))
    slope, offset = (real(entry[name], f"the calibration's {name}") for name in ("slope", "offset"))
    return Calibration(slope, offset)


def _pipeline(plain: Object) -> None:
    """Require named steps of a scikit-learn pipeline, if there are any; loading reads them."""
    if "pipeline" not in plain:
        return
    entry = object_with(plain["pipeline"], "pipeline", required=("library", "steps", "last"))
    text(entry["library"], "the version of scikit-learn")
    steps = entry["steps"]
    fits = isinstance(steps, list) and all(isinstance(s, list) and len(s) == 2 for s in steps)
    require(fits, "steps of the pipeline, each with its name", steps)
    texts([*(step[0] for step in steps), entry["last"]], "names of steps")
    require(plain["encoder"] is None, "either a pipeline or an encoder", "both")


def _smoothing(value: Any, exact: bool, layered: bool) -> None:
    smoothing = object_with(value, "smoothing", required=("method", "n_draws"))
    method = one_of(smoothing["method"], "the method of smoothing", METHODS)
    whole(smoothing["n_draws"], "n_draws", least=1, most=MAX_DRAWS)
    possible = {"exact": exact, "layerwise": layered}.get(method, True)
    require(possible, "a method of smoothing that this architecture has", method)


def _classes(value: Any) -> tuple[Any, Any]:
    """Require two labels in rising order: the second one is the positive one."""
    found = labels(value, "classes")
    kinds = {str if isinstance(label, str) else float for label in found}
    fits = len(found) == 2 and None not in found and len(kinds) == 1
    fits = fits and not any(isinstance(label, tuple) for label in found)
    require(fits and found[0] < found[1], "2 classes of one type in rising order", value)
    return found[0], found[1]


def _encoder(value: Any, tensors: Mapping[str, Floats]) -> "Encoder | None":
    if value is None:
        return None
    # Loaded when there is one: encoding needs pandas.
    from fairsmooth.data.encoders import read_encoder

    return read_encoder(an_object(value, "the encoder"), tensors)


def _features(value: Any, n_features: int | None, encoder: "Encoder | None") -> None:
    features = object_with(value, "features", required=("count", "names"))
    count = whole(features["count"], "the number of features", least=1)
    require(n_features in (None, count), f"{n_features} features, as the architecture has", count)
    names = None if features["names"] is None else texts(features["names"], "names of features")
    require(names is None or len(names) == count, f"{count} names of features", names)
    if encoder is not None:
        require(encoder.feature_names == names, "the features that the encoder makes", names)


def _settings(plain: Object) -> None:
    """Require settings that are written twice to agree: which one is used must not matter."""
    settings = an_object(plain["parameters"], "parameters")
    smoothing = plain["smoothing"]
    twice = {
        **{name: plain[name] for name in ("sigma", "link", "center")},
        "smoothing": smoothing["method"],
        "n_draws": smoothing["n_draws"],
    }
    for name, fact in twice.items():
        require(settings.get(name) == fact, f"{name} {fact!r} in parameters", settings.get(name))
    for name in ("module", "callback"):
        if name in settings:
            raise InputError(f"Expected settings that are no code, got {name!r} in parameters.")
