"""Versions of the description, and how an older one becomes the present one.

========  =======================================================================
format    what changed
========  =======================================================================
1         the first
2         ``smoothing`` beside ``sigma`` and ``link``, as it was when the model was
          fitted; ``training`` became ``table``; ``guarantee``; a module's classes,
          parameter names and shapes
========  =======================================================================
"""

from typing import Any

from fairsmooth.persistence.fields import Object, an_object, require

FORMAT = 2


def to_present(plain: Object) -> dict[str, Any]:
    """Return a description in the present format, from any format that was ever written."""
    version = plain.get("format")
    known = type(version) is int and 1 <= version <= FORMAT
    require(known, f"format 1 to {FORMAT}", version)
    return _from_1(dict(plain)) if version == 1 else dict(plain)


def _from_1(plain: dict[str, Any]) -> dict[str, Any]:
    require("training" in plain, "an entry 'training' in the description", None)
    settings = an_object(plain.get("parameters"), "parameters")
    training = plain.pop("training")
    return {
        **plain,
        "format": FORMAT,
        "smoothing": {"method": settings.get("smoothing"), "n_draws": settings.get("n_draws")},
        "table": None if training == {} else training,
        "guarantee": None,
    }
