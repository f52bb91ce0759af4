"""
Verify somebody else's model
============================

An auditor gets a file, and trusts neither its author nor the library that wrote it.
"""

import json
import tempfile
from pathlib import Path

from fairsmooth import guarantee_gaps
from fairsmooth.datasets import make_biased
from fairsmooth.tables import TableModel
from fairsmooth.verify import verify, verify_guarantee

folder = Path(tempfile.mkdtemp())
path = folder / "model.safetensors"

# %%
# This part happens elsewhere: somebody trains, and promises that selection rates differ by less
# than 0.3.

data = make_biased(n_samples=6000, random_state=0)
table = data.X.assign(sex=data.sensitive_features, hired=data.y)
model = TableModel.fit(table.head(3000), label="hired", sensitive="sex", random_state=0)
model.save(path)
safety = table.tail(3000)
promise = guarantee_gaps(
    (model.predict(safety)["prediction"] == 1).to_numpy(),
    sensitive_features=safety["sex"],
    limits={"demographic_parity": 0.3},
)
(folder / "promise.json").write_text(json.dumps(promise.to_dict()))

# %%
# The auditor checks the certificate with interval arithmetic, from the parameters in the file.

print(verify(path))

# %%
# And the promise: the p-values are computed again from the counts, with rational numbers.

claimed = json.loads((folder / "promise.json").read_text())
print(verify_guarantee(claimed))

# %%
# A promise made smaller by hand is refused.

claimed["claims"][0]["bound"] -= 0.02
forged = verify_guarantee(claimed)
print(forged)
assert not forged.holds
