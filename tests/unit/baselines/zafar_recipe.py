"""The synthetic sets of FairBatch and FRS, generated again from their recipe and seed.

After Zafar et al. (2017): the features of each label are Gaussian, and the group
of a row is drawn with the odds of the two densities at the features turned by an
angle. The public seed of Zafar et al. gives the released rows to all digits.
What the papers leave open was read off the released sets: 3,700 rows per label,
346 uniform draws passed over before the groups are drawn, and for FRS means of
±(1, 1), angle π/5 and odds multiplied by 7; FRS flips the tenth of the training
labels that lie furthest on the right side of one linear score, either among all
rows or among those of group 1.
"""

import random
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.stats import multivariate_normal

SEED = 1122334455
N_PER_LABEL = 3700
PASSED_OVER = 346
FLIP_SCORE = np.array([0.4543, 1.0, -0.4466])
FLIP_OFFSET = 0.4044

POSITIVE = np.array([[5.0, 1.0], [1.0, 5.0]])
NEGATIVE = np.array([[10.0, 1.0], [1.0, 3.0]])


@dataclass(frozen=True)
class Sample:
    X: NDArray[np.float64]
    y: NDArray[np.int64]
    group: NDArray[np.int64]

    def rows(self, start, stop):
        return Sample(self.X[start:stop], self.y[start:stop], self.group[start:stop])


def fairbatch_sets(seed=SEED):
    sample = _generate(seed, mean=2.0, angle=np.pi / 4, odds=1.0)
    return sample.rows(0, 2000), sample.rows(2700, 3700)


def frs_sets(seed=SEED):
    sample = _generate(seed, mean=1.0, angle=np.pi / 5, odds=7.0)
    return sample.rows(0, 2000), sample.rows(2700, 3700)


def flipped_labels(train, *, only_group_one):
    margin = (train.X @ FLIP_SCORE + FLIP_OFFSET) * (2 * train.y - 1)
    if only_group_one:
        margin = np.where(train.group == 1, margin, -np.inf)
    flipped = train.y.copy()
    chosen = np.argsort(-margin)[: len(margin) // 10]
    flipped[chosen] = 1 - flipped[chosen]
    return flipped


def accuracy_and_gap(model, test, notion):
    predictions = model.predict(test.X)
    rows = {
        "demographic_parity": [np.ones(len(test.y), dtype=bool)],
        "equal_opportunity": [test.y == 1],
        "equalized_odds": [test.y == 0, test.y == 1],
    }[notion]
    gap = max(_deviation(predictions, chosen, test.group) for chosen in rows)
    return float((predictions == test.y).mean()), gap


def _deviation(predictions, rows, group):
    """Return the authors' gap: the largest distance of a group's rate from the pooled rate."""
    pooled = predictions[rows].mean()
    return float(max(abs(predictions[rows & (group == z)].mean() - pooled) for z in (0, 1)))


def _generate(seed, *, mean, angle, odds):
    stream = np.random.RandomState(seed)
    positive = _gaussian(stream, POSITIVE) + mean
    negative = _gaussian(stream, NEGATIVE) - mean
    stream.uniform(size=PASSED_OVER)
    order = list(range(2 * N_PER_LABEL))
    random.Random(seed).shuffle(order)
    features = np.vstack([positive, negative])[order]
    y = np.repeat([1, 0], N_PER_LABEL)[order]
    turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    weight = odds * multivariate_normal([mean, mean], POSITIVE).pdf(features @ turn)
    other = multivariate_normal([-mean, -mean], NEGATIVE).pdf(features @ turn)
    group = (stream.uniform(size=len(y)) < weight / (weight + other)).astype(np.int64)
    return Sample(np.column_stack([features, group]), y, group)


def _gaussian(stream, covariance):
    # The signs of the axes are fixed here; those of a library's SVD may differ by machine.
    variances, axes = np.linalg.eigh(covariance)
    pointed = -np.sign(axes[0]) * axes
    draws = stream.standard_normal((N_PER_LABEL, 2))
    return draws[:, ::-1] * np.sqrt(variances) @ pointed.T
