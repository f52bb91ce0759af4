"""The rows a job works on."""

from functools import lru_cache

import numpy as np

from fairsmooth._random import numpy_generator
from fairsmooth.datasets import FairDataset, load_adult, load_compas, with_group_ratio
from fairsmooth.experiments._estimate import TEST_SIZE
from fairsmooth.experiments._job import Job

LOADERS = {"adult": load_adult, "compas": load_compas}
# The group whose share is varied: the paper's for adult-sex and compas-race.
VARIED_GROUP = {
    "adult-sex": "Female",
    "adult-race": "Non-white",
    "compas-sex": "Female",
    "compas-race": "African-American",
}
HELD_OUT = 0.25

Parts = tuple[FairDataset, FairDataset]


def training_and_test(job: Job) -> Parts:
    """Return the training part, with the group's share that the job asks for, and the test part."""
    train, test = _parts(job.case, job.encoding, job.max_rows, job.split_seed)
    if job.group_ratio is not None:
        group = VARIED_GROUP[job.case]
        train = with_group_ratio(train, group, job.group_ratio, random_state=job.split_seed)
    return train, test


def training_and_held_out(job: Job) -> Parts:
    """Split the training part once more, to choose among candidates; no test row is looked at."""
    train, _ = training_and_test(job)
    if job.selection_rows is not None and job.selection_rows < len(train):
        train = some_rows(train, job.selection_rows, job.split_seed)
    return train.split(HELD_OUT, random_state=job.split_seed)


def some_rows(dataset: FairDataset, count: int, seed: int) -> FairDataset:
    """Draw rows at random, without replacement."""
    order = numpy_generator(seed, "rows", dataset.name).permutation(len(dataset))
    return dataset.take(np.sort(order[:count]))


@lru_cache(maxsize=4)
def whole(case: str, encoding: str, max_rows: int | None) -> FairDataset:
    """Return all the rows of a case, or as many as the profile takes."""
    name, sensitive = case.split("-")
    dataset = LOADERS[name](encoding=encoding, sensitive=sensitive)
    if max_rows is None or max_rows >= len(dataset):
        return dataset
    return some_rows(dataset, max_rows, 0)


@lru_cache(maxsize=4)
def _parts(case: str, encoding: str, max_rows: int | None, seed: int) -> Parts:
    return whole(case, encoding, max_rows).split(TEST_SIZE, random_state=seed)
