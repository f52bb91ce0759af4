"""
Smaller gaps
============

Limits on the gaps of decisions, what they cost in accuracy, and the certificate beside them.
"""

from fairsmooth import FairSmoothClassifier
from fairsmooth.datasets import load_compas
from fairsmooth.metrics import accuracy, demographic_parity_gap, equalized_odds_gap

train, test = load_compas(encoding="binned", sensitive="sex").split(random_state=0)
known = {"sensitive_features": train.sensitive_features}

# %%
# Without limits, and with ever tighter ones on ΔDP and on ΔEO. Decisions on the *training* rows
# keep the limits; those on other rows scatter around them.

print("limits        accuracy  ΔDP    ΔEO    ε")
for limits in (None, (0.10, 0.16), (0.06, 0.10), (0.03, 0.05)):
    settings = (
        {"parity": "both", "parity_solver": "decisions", "parity_tolerance": limits}
        if limits
        else {}
    )
    clf = FairSmoothClassifier(**settings, random_state=0).fit(train.X, train.y, **known)
    decided, groups = clf.predict(test.X), {"sensitive_features": test.sensitive_features}
    print(
        f"{limits or 'none'!s:13} {accuracy(test.y, decided):.3f}     "
        f"{demographic_parity_gap(test.y, decided, **groups):.3f}  "
        f"{equalized_odds_gap(test.y, decided, kind='sum', **groups):.3f}  "
        f"{clf.certificate_.epsilon:.4f}"
    )
