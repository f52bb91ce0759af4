"""COMPAS: who was not charged with a new crime within two years, in Broward County, Florida."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from fairsmooth.datasets._base import FairDataset
from fairsmooth.datasets._build import ENCODINGS, SENSITIVE, EmbeddedTable, flags
from fairsmooth.datasets._entry import DatasetEntry


def load_compas(
    encoding: str = "binned",
    sensitive: str | Sequence[str] = "sex",
    *,
    race: str = "binary",
    include_sensitive: bool | None = None,
) -> FairDataset:
    """Load the 6,172 rows of COMPAS that pass ProPublica's filter, without a download.

    The embedded table holds no name, date, case number or other column that
    identifies a person, and none of COMPAS's own scores.

    Parameters
    ----------
    encoding : {"binned", "aif360", "aif360-blind", "raw"}
        - "binned": age and the four counts of earlier offences in bins, and
          the degree of the charge; neither sex nor race. Bins come from all
          rows, until a split learns them again.
        - "aif360": the 10 binary columns of the paper: sex, race, age (3),
          earlier offences (3) and degree of the charge (2).
        - "raw": the columns as published.
    sensitive : {"sex", "race"} or several of them
        Several make intersectional groups.
    race : {"binary", "merged", "full"}
        African-American and other; or five races, the 11 Native Americans
        counted as other; or the six races as published.
    include_sensitive : bool, optional
        Whether ``X`` holds sex and race. By default only "aif360" does, as in
        the paper.

    Returns
    -------
    FairDataset

    References
    ----------
    Section 4 of the paper: "6,172 individuals with 10 binary features and a
    label that takes value 1 if the individual does not reoffend".
    Larson, Mattu, Kirchner and Angwin, How We Analyzed the COMPAS Recidivism
    Algorithm, ProPublica, 2016.

    Examples
    --------
    >>> load_compas("aif360").X.shape
    (6172, 10)
    >>> load_compas(sensitive="race").groups.labels
    ('African-American', 'Other')
    """
    return _TABLE.load(encoding, sensitive, race=race, include_sensitive=include_sensitive)


def _coarse(table: pd.DataFrame) -> pd.DataFrame:
    age, priors, charge = table["age"], table["priors_count"], table["c_charge_degree"]
    return pd.concat(
        [
            # AIF360 counts women and Caucasians as 1; with African-American or
            # other as the groups, the second flag marks the others.
            (table["sex"] == "Female").astype(np.float64),
            (table["race"] != "African-American").astype(np.float64),
            flags(age, ["<25", "25-44", ">=45"], [age < 25, age.between(25, 44), age >= 45]),
            flags(priors, ["0", "1-3", ">3"], [priors == 0, priors.between(1, 3), priors > 3]),
            flags(charge, ["F", "M"], [charge == "F", charge == "M"]),
        ],
        axis=1,
    )


_TABLE = EmbeddedTable(
    name="compas",
    checksum="1a6e9dc488ef531b9b108fbe1a204ea8ce730456a6ace5495f3ce7ad3738bec4",
    description="6,172 defendants of Broward County, Florida, in 2013 and 2014.",
    label="did not reoffend within two years",
    target=lambda table: 1 - table.pop("two_year_recid").to_numpy(np.int64),
    races={
        "binary": lambda race: race.where(race == "African-American", "Other"),
        "merged": lambda race: race.replace("Native American", "Other"),
        "full": lambda race: race,
    },
    coarse=_coarse,
)

DATASETS = (
    DatasetEntry(
        name=_TABLE.name,
        title="COMPAS",
        loader=load_compas,
        sensitive=SENSITIVE,
        encodings=ENCODINGS,
        description=_TABLE.description,
        label=_TABLE.label,
        label_column="did_not_reoffend",
        varied_group={"sex": "Female", "race": "African-American"},
        reference="Larson, Mattu, Kirchner and Angwin (2016), ProPublica",
        checksum=_TABLE.checksum,
    ),
)
