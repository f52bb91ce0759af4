"""Adult: who earned more than 50,000 dollars in the United States census of 1994."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from fairsmooth.datasets._base import FairDataset
from fairsmooth.datasets._build import ENCODINGS, SENSITIVE, EmbeddedTable, flags
from fairsmooth.datasets._entry import DatasetEntry


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
    encoding : {"binned", "aif360", "aif360-blind", "raw"}
        - "binned": every useful column, numbers in quantile bins, categories
          one-hot, neither sex nor race. The census weight is left out, and so
          is the number of years of education, which repeats its level. Bins and
          categories come from the official training part, until a split learns
          them again.
        - "aif360": 18 binary columns, as many as the paper has: sex, race, decade of age
          (7) and years of education (9).
        - "aif360-blind": the same without sex and race; the paper does not say whether they
          were among its columns.
        - "raw": the columns as published; a missing value is missing.
    sensitive : {"sex", "race"} or several of them
        Several make intersectional groups.
    race : {"binary", "full"}
        White and non-white, or the five races of the census.
    include_sensitive : bool, optional
        Whether ``X`` holds sex and race. By default only "aif360" does.

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
    return _TABLE.load(encoding, sensitive, race=race, include_sensitive=include_sensitive)


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


_TABLE = EmbeddedTable(
    name="adult",
    checksum="6d2e458911c984effc0f64361c9349cca06c8c3551a5b380e10e4944686606d5",
    description="48,842 adults of the US census of 1994.",
    label="earned more than 50,000 US dollars in the year",
    target=lambda table: table.pop("over-50k").to_numpy(np.int64),
    races={"binary": _binary_race, "full": lambda race: race},
    coarse=_coarse,
    unused=("fnlwgt", "education-num"),
    official="official-train",
)

DATASETS = (
    DatasetEntry(
        name=_TABLE.name,
        title="Adult",
        loader=load_adult,
        sensitive=SENSITIVE,
        encodings=ENCODINGS,
        description=_TABLE.description,
        label=_TABLE.label,
        label_column="income_over_50k",
        # A sampling weight, and the same information as "education".
        drop=_TABLE.unused,
        varied_group={"sex": "Female", "race": "Non-white"},
        reference="Becker and Kohavi (1996), UCI Machine Learning Repository, CC BY 4.0",
        checksum=_TABLE.checksum,
    ),
)
