"""Who takes part: the methods of the library in the paper's order, new ones after them."""

from collections.abc import Iterable, Sequence

from fairsmooth.baselines import Method, methods
from fairsmooth.experiments.declaration import ALL, BASELINES, VARIANTS, Experiment

# Every method of the library has as many candidates, so that none is searched harder.
N_CANDIDATES = 6

_ORDER = (*BASELINES, "unconstrained", *VARIANTS, "fairsmooth_parity")


def everyone() -> tuple[Method, ...]:
    """Return every method, the paper's first and as it orders them."""
    return tuple(sorted(methods(), key=lambda each: _place(each.name)))


def taking_part(experiment: Experiment, outside: Sequence[Method] = ()) -> tuple[Method, ...]:
    """Return the methods of an experiment; those from outside join where all compete."""
    if experiment.methods == ALL:
        return (*everyone(), *outside)
    known = {each.name: each for each in everyone()}
    return tuple(known[name] for name in experiment.methods)


def in_order(names: Iterable[str]) -> list[str]:
    """Return method names in the order of the pages."""
    return sorted(dict.fromkeys(names), key=_place)


def label_of(name: str) -> str:
    """Return the label of a method; one from outside is named by its class."""
    labels = {each.name: each.label for each in everyone()}
    return labels.get(name, name.partition("@")[0])


def _place(name: str) -> tuple[int, str]:
    return (_ORDER.index(name), "") if name in _ORDER else (len(_ORDER), name)
