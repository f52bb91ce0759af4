"""Judging a certificate that somebody states by one computed from the weights."""

from dataclasses import replace
from typing import Any

from fairsmooth.core.certificate import Certificate
from fairsmooth.exceptions import InputError

# What a stated number may fall short of the computed one. Both are upper bounds, the
# computed one too large by some 40 units in the last place (4e-15) at the most; the
# error function of another C library may move it by as much again.
ROUNDING = 1e-13
_LEAST = 5e-324
_FACTS = ("sigma", "groups", "n_parameters", "center", "slope")
_SINGLE = ("max_distance", "epsilon", "epsilon_tight")
_BY_GROUP = ("distances", "epsilon_by_group", "epsilon_linear_by_group")


def confirm(stated: Certificate, computed: Certificate) -> Certificate:
    """Return a stated certificate if every number is at least the computed one, up to rounding.

    Larger numbers are true as well. A number that falls short by no more than a
    relative ``ROUNDING`` is replaced by the computed one, so that what is returned is a
    bound to the last digit. Anything else raises :class:`InputError`.

    Parameters
    ----------
    stated : Certificate
        As found in a model file.
    computed : Certificate
        Of the same parameters, by :func:`~fairsmooth.core.certificate.certify`.
    """
    for name in _FACTS:
        said, fact = getattr(stated, name), getattr(computed, name)
        if said != fact:
            raise InputError(f"Expected {name} {fact!r} in the certificate, got {said!r}.")
    numbers: dict[str, Any] = {
        name: _larger(name, getattr(stated, name), getattr(computed, name)) for name in _SINGLE
    }
    for name in _BY_GROUP:
        said, fact = getattr(stated, name), getattr(computed, name)
        numbers[name] = {g: _larger(name, said[g], fact[g]) for g in computed.groups}
    return replace(computed, **numbers)


def _larger(name: str, stated: float, computed: float) -> float:
    # Below the normal range a relative margin rounds away; a few steps of it remain.
    if not stated >= computed * (1.0 - ROUNDING) - 8 * _LEAST:
        raise InputError(
            f"the certificate is not the certificate of its weights: expected {name} of at "
            f"least {computed!r}, got {stated!r}. Run `fairsmooth verify` on it."
        )
    return max(stated, computed)
