"""Adult: who earned more than 50,000 dollars in the United States census of 1994."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from fairsmooth import _validate
from fairsmooth.datasets._base import FairDataset
from fairsmooth.datasets._build import ENCODINGS, SENSITIVE, Encodings, flags, sensitive_columns
from fairsmooth.datasets._embedded import read_table
from fairsmooth.datasets._entry import DatasetEntry

CHECKSUM = "6d2e458911c984effc0f64361c9349cca06c8c3551a5b380e10e4944686606d5"
DESCRIPTION = "48,842 adults of the US census of 1994."
LABEL = "earned more than 50,000 US dollars in the year"
RACES = ("binary", "full")


def load_adult(
    encoding: str = "binned",
    sensitive: str | Sequence[str] = "sex",
    *,
    race: str = "binary",
    include_sensitive: bool | None = None,
) -> FairDataset:
    """Load all 48,842 rows of Adult, without a download.

    The first 32,561 rows are the official training part, the rest the official
    test part (:meth:`FairDataset.official_split`).

    Parameters
    ----------
    encoding : {"binned", "aif360", "raw"}
        - "binned": every useful column, numbers in quantile bins, categories
          one-hot, neither sex nor race. The census weight is left out, and so
          is the number of years of education, which repeats its level. Bins and
          categories come from the official training part, until a split learns
          them again.
        - "aif360": the 18 binary columns of the paper: sex, race, decade of age
          (7) and years of education (9).
        - "raw": the columns as published; a missing value is missing.
    sensitive : {"sex", "race"} or several of them
        Several make intersectional groups.
    race : {"binary", "full"}
        White and non-white, or the five races of the census.
    include_sensitive : bool, optional
        Whether ``X`` holds sex and race. By default only "aif360" does, as in
        the paper.

    Returns
    -------
    FairDataset

    References
    ----------
    Section 4 of the paper: "48,842 individuals with 18 binary features".
    Becker and Kohavi, Adult, UCI Machine Learning Repository, 1996.

    Examples
    --------
    >>> load_adult("aif360", sensitive="race").X.shape
    (48842, 18)
    """
    _validate.one_of(RACES, race=race)
    table = read_table("adult.parquet", CHECKSUM)
    y = table.pop("over-50k").to_numpy(np.int64)
    official_train = table.pop("official-train").to_numpy(bool)
    races = table["race"] if race == "full" else _binary_race(table["race"])
    return FairDataset(
        y=y,
        sensitive_features=sensitive_columns({"sex": table["sex"], "race": races}, sensitive),
        name="adult",
        description=f"{DESCRIPTION} Encoding: {encoding}.",
        label=LABEL,
        official_train=official_train,
        **_ENCODINGS.apply(
            table, encoding, include_sensitive=include_sensitive, learn_on=official_train
        ),
    )


def _binary_race(race: "pd.Series[str]") -> "pd.Series[str]":
    return race.where(race == "White", "Non-white")


def _coarse(table: pd.DataFrame) -> pd.DataFrame:
    decade = (table["age"] // 10 * 10).clip(upper=70).rename("age")
    years = table["education-num"].clip(5, 13).rename("education-years")
    decades, lengths = range(10, 80, 10), range(5, 14)
    return pd.concat(
        [
            (table["race"] == "White").astype(np.float64),
            (table["sex"] == "Male").astype(np.float64),
            flags(decade, [*map(str, decades[:-1]), ">=70"], [decade == d for d in decades]),
            flags(years, ["<6", *map(str, lengths[1:-1]), ">12"], [years == n for n in lengths]),
        ],
        axis=1,
    )


_ENCODINGS = Encodings(coarse=_coarse, unused=("fnlwgt", "education-num"))

DATASETS = (
    DatasetEntry(
        name="adult",
        loader=load_adult,
        sensitive=SENSITIVE,
        encodings=ENCODINGS,
        description=DESCRIPTION,
        label=LABEL,
        reference="Becker and Kohavi (1996), UCI Machine Learning Repository, CC BY 4.0",
        checksum=CHECKSUM,
    ),
)
