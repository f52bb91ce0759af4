"""
A method of your own
====================

One class, and everything around it comes along: commands, contract tests, comparison.
"""

import numpy as np
from sklearn.linear_model import LogisticRegression

from fairsmooth.classifier import GroupClassifier
from fairsmooth.datasets import make_biased
from fairsmooth.metrics import demographic_parity_gap


class ReweighedClassifier(GroupClassifier):
    """Logistic regression with every (group, label) cell weighted as under independence."""

    def __init__(self, *, C=1.0):
        self.C = C

    def _fit(self, X, y, groups):
        weights = np.empty(len(y))
        for code in range(len(groups.labels)):
            for label in (0, 1):
                cell = (groups.codes == code) & (y == label)
                expected = (groups.codes == code).mean() * (y == label).mean()
                weights[cell] = expected / cell.mean()
        self.model_ = LogisticRegression(C=self.C).fit(X, y, sample_weight=weights)

    def _scores(self, X):
        return self.model_.predict_proba(X)[:, 1]


if __name__ == "__main__":
    data = make_biased(n_samples=4000, random_state=0)
    clf = ReweighedClassifier().fit(data.X, data.y, sensitive_features=data.sensitive_features)
    gap = demographic_parity_gap(
        data.y, clf.predict(data.X), sensitive_features=data.sensitive_features
    )
    print(f"demographic parity gap {gap:.3f}")
    print("Compare it: fairsmooth reproduce table1 --method <this file>:ReweighedClassifier")
    print("Put the class into baselines/<name>.py with a METHODS tuple: every command finds it.")
