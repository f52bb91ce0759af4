"""
Smaller gaps
============

Trade accuracy for smaller gaps with the parity extension; the certificate stays.
"""

from fairsmooth import FairSmoothClassifier
from fairsmooth.datasets import load_compas
from fairsmooth.metrics import accuracy, demographic_parity_gap, equalized_odds_gap

train, test = load_compas(encoding="binned", sensitive="race").split(random_state=0)

print("weight  accuracy   ΔDP    ΔEO    ε")
for weight in (0.0, 0.1, 0.3, 1.0):
    clf = FairSmoothClassifier(link="probit", parity="both", parity_weight=weight)
    clf.fit(train.X, train.y, sensitive_features=train.sensitive_features)
    decided = clf.predict(test.X)
    gaps = {"sensitive_features": test.sensitive_features}
    print(
        f"{weight:6.1f}  {accuracy(test.y, decided):.3f}     "
        f"{demographic_parity_gap(test.y, decided, **gaps):.3f}  "
        f"{equalized_odds_gap(test.y, decided, kind='sum', **gaps):.3f}  "
        f"{clf.certificate_.epsilon:.4f}"
    )
