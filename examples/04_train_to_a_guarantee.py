"""
Train to a guarantee
====================

Ask for a limit; get a model with a proof that it keeps it, or no model.
"""

from fairsmooth import Limits, NoGuarantee
from fairsmooth.datasets import make_biased
from fairsmooth.tables import TableModel

data = make_biased(n_samples=12000, random_state=1)
table = data.X.assign(sex=data.sensitive_features, hired=data.y)

# %%
# The table is split once, by group. Candidates are compared on training rows alone; the chosen one
# is tested once, exactly, on the safety rows.

model = TableModel.fit(
    table,
    label="hired",
    sensitive="sex",
    guarantee=Limits(demographic_parity=0.12),
    random_state=0,
)
print(model.guarantee)

# %%
# A limit that this many rows cannot prove is refused, and the error says how many would do.

try:
    TableModel.fit(
        table.head(2000),
        label="hired",
        sensitive="sex",
        guarantee=Limits(demographic_parity=0.01),
        random_state=0,
    )
except NoGuarantee as refusal:
    print(refusal)
