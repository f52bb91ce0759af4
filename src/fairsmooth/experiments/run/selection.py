"""Which part of the experiments is run."""

from collections.abc import Iterable
from dataclasses import dataclass

from fairsmooth import _validate
from fairsmooth.baselines import Method
from fairsmooth.datasets import datasets
from fairsmooth.experiments.declaration import DATASETS
from fairsmooth.experiments.run.field import everyone
from fairsmooth.experiments.run.job import Job
from fairsmooth.experiments.run.profiles import ENCODINGS


@dataclass(frozen=True)
class Selection:
    """Which part of the experiments is run; empty tuples leave everything in.

    Attributes
    ----------
    methods : tuple of str
        Methods, by name.
    only : tuple of str
        Datasets, sensitive attributes, cases or encodings, all of which must fit. A
        dataset that the paper does not use joins the experiments when it is named.
    outside : tuple of Method
        Methods from files outside the package; they take part where all do.
    """

    methods: tuple[str, ...] = ()
    only: tuple[str, ...] = ()
    outside: tuple[Method, ...] = ()

    def keeps(self, job: Job) -> bool:
        """Tell whether a job is part of the selection."""
        names = {job.dataset, job.sensitive, job.case, job.encoding}
        wanted = {"", *self.methods, *(each.name for each in self.outside)}
        return (not self.methods or job.contender in wanted) and names.issuperset(self.only)

    def further_cases(self) -> list[str]:
        """Return the cases of datasets that are asked for by name and are not the paper's."""
        return [
            case
            for case in _cases(each.name for each in datasets() if each.name not in DATASETS)
            if {case, case.split("-", 1)[0]} & set(self.only)
        ]

    def check(self) -> None:
        """Refuse names that no method, dataset or encoding has."""
        for name in self.methods:
            _validate.one_of([each.name for each in everyone()], methods=name)
        cases = _cases(each.name for each in datasets())
        parts = dict.fromkeys(part for case in cases for part in case.split("-", 1))
        for name in self.only:
            _validate.one_of((*parts, *cases, *ENCODINGS), only=name)


def _cases(names: Iterable[str]) -> list[str]:
    wanted = set(names)
    found = [each for each in datasets() if each.name in wanted]
    return [f"{each.name}-{sensitive}" for each in found for sensitive in each.sensitive]


EVERYTHING = Selection()
