"""
Monitor a model in use
======================

Batch by batch, however often one looks: guaranteed, open, or alarm.
"""

import numpy as np

from fairsmooth import GapMonitor

rng = np.random.default_rng(0)


def week(rows: int, rate_f: float, rate_m: float):
    """Decisions on one week's applicants, and who they were."""
    sex = rng.choice(["f", "m"], rows)
    return (rng.random(rows) < np.where(sex == "f", rate_f, rate_m)).astype(int), sex


# %%
# Selection rates of 30 and 32 % keep a limit of 0.15; proving it takes some weeks.

monitor = GapMonitor({"demographic_parity": 0.15}, confidence=0.95)
for number in range(1, 9):
    decisions, sex = week(300, 0.30, 0.32)
    status = monitor.update(decisions, sensitive_features=sex, batch=f"week {number}")
    print(f"week {number}: {status}, bound {monitor.bounds['demographic_parity']:.3f}")

# %%
# Then something changes. All rows together still look well; the detector restarts at every batch.

for number in range(9, 25):
    decisions, sex = week(300, 0.15, 0.50)
    status = monitor.update(decisions, sensitive_features=sex, batch=f"week {number}")
    print(f"week {number}: {status}")
    if status == "alarm":
        break

# %%
# The state is counts: it can be written to a file and taken up again.

again = GapMonitor.from_dict(monitor.to_dict())
assert again.status == monitor.status
