"""
Your own CSV
============

From a file as people have it, with semicolons, decimal commas and gaps, to a certified model.
"""

import tempfile
from pathlib import Path

import numpy as np
import pandas as pd

from fairsmooth.tables import TableModel

# %%
# A bank's applications: a number with missing values, a category, an id, a sensitive column.

rng = np.random.default_rng(0)
n = 3000
income = rng.lognormal(10, 0.6, n)
sex = rng.choice(["female", "male"], n)
applications = pd.DataFrame(
    {
        "customer": np.arange(n),
        "income": np.where(rng.random(n) < 0.04, np.nan, np.round(income, 2)),
        "job": rng.choice(["clerk", "farmer", "nurse", "none"], n),
        "sex": sex,
    }
)
score = np.log(income) - 10 + 0.3 * (sex == "male") + rng.normal(0, 0.7, n)
applications["risk"] = np.where(score > 0, "good", "bad")

folder = Path(tempfile.mkdtemp())
applications.to_csv(folder / "applications.csv", sep=";", decimal=",", index=False)

# %%
# One call reads the file, holds out 30 % of the rows, encodes, trains, certifies and audits.
# ``positive`` is never guessed; ids are not learned from.

model = TableModel.fit(
    folder / "applications.csv",
    label="risk",
    positive="good",
    sensitive=["sex"],
    ids=["customer"],
    random_state=0,
)
print(model.summary())

# %%
# Predictions need no group. They carry the certified interval of each group's own score.

print(model.predict(applications.head(4).drop(columns=["sex", "risk"])).round(4).T)

# %%
# The model is one file, never a pickle, and it knows where it came from.

model.save(folder / "model.safetensors")
again = TableModel.load(folder / "model.safetensors")
assert again.provenance.rows == model.provenance.rows
print(again.provenance)
