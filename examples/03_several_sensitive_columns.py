"""
Several sensitive columns
=========================

Groups may be combinations, such as sex and race; limits may be set for each column by itself.
"""

from fairsmooth import FairSmoothClassifier, guarantee_gaps
from fairsmooth.datasets import load_compas
from fairsmooth.metrics import audit

data = load_compas(encoding="binned", sensitive=["sex", "race"])
train, test = data.split(test_size=0.5, random_state=0)
clf = FairSmoothClassifier(group_weights="share")
clf.fit(train.X, train.y, sensitive_features=train.sensitive_features)

# %%
# The certificate has one bound per combination; small groups lie further from the average.

for group, bound in clf.certificate_.epsilon_by_group.items():
    print(group, f"{bound:.4f}")

# %%
# The audit measures every combination, with intervals as wide as its rows deserve.

frame = audit(clf, test.X, test.y, sensitive_features=test.sensitive_features).to_frame()
print(frame[frame.metric == "selection_rate"][["group", "value", "low", "high", "count"]])

# %%
# Guaranteed bounds on the gaps: of each column by itself, not of the combinations.

found = guarantee_gaps(
    clf.predict(test.X),
    sensitive_features=test.sensitive_features,
    limits={"sex": {"demographic_parity": 0.3}, "race": {"demographic_parity": 0.3}},
)
print(found)
