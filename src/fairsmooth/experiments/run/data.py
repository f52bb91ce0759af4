"""The rows a job works on."""

from functools import lru_cache

from fairsmooth._random import numpy_generator
from fairsmooth.data.splits import random_rows
from fairsmooth.datasets import FairDataset, entry, with_group_ratio
from fairsmooth.experiments.run.job import Job
from fairsmooth.experiments.settings import TEST_SIZE

HELD_OUT = 0.25

Parts = tuple[FairDataset, FairDataset]


def training_and_test(job: Job) -> Parts:
    """Return the training part, with the group's share that the job asks for, and the test part."""
    train, test = _parts(job.case, job.encoding, job.max_rows, job.split_seed)
    if job.group_ratio is not None:
        named = entry(job.dataset).varied_group
        group = named.get(job.sensitive, train.groups.labels[0])
        train = with_group_ratio(train, group, job.group_ratio, random_state=job.split_seed)
    return train, test


def training_and_held_out(job: Job) -> Parts:
    """Split the training part once more, to choose among candidates; no test row is looked at."""
    return _held_out(job.case, job.encoding, job.max_rows, job.split_seed, job.selection_rows)


def some_rows(dataset: FairDataset, count: int, seed: int) -> FairDataset:
    """Draw rows at random, without replacement."""
    permute = numpy_generator(seed, "rows", dataset.name).permutation
    return dataset.take(random_rows(len(dataset), count, permute=permute))


@lru_cache(maxsize=4)
def whole(case: str, encoding: str, max_rows: int | None) -> FairDataset:
    """Return all the rows of a case, or as many as the profile takes."""
    name, sensitive = case.split("-", 1)
    dataset = entry(name).load(encoding=encoding, sensitive=sensitive)
    if max_rows is None or max_rows >= len(dataset):
        return dataset
    return some_rows(dataset, max_rows, 0)


@lru_cache(maxsize=4)
def _held_out(
    case: str, encoding: str, max_rows: int | None, seed: int, selection_rows: int | None
) -> Parts:
    whole_part, _ = _parts(case, encoding, max_rows, seed)
    train, held_out = whole_part.split(HELD_OUT, random_state=seed)
    # Training costs, judging does not: every row that may judge does.
    if selection_rows is not None and selection_rows < len(whole_part):
        train = some_rows(train, round(selection_rows * (1.0 - HELD_OUT)), seed)
    return train, held_out


@lru_cache(maxsize=4)
def _parts(case: str, encoding: str, max_rows: int | None, seed: int) -> Parts:
    return whole(case, encoding, max_rows).split(TEST_SIZE, random_state=seed)
