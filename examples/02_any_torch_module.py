"""
Any torch module
================

The certificate holds whatever the network computes: only the parameters of the groups enter it.
"""

import torch
from torch import nn

from fairsmooth import FairSmoothClassifier
from fairsmooth.datasets import load_compas
from fairsmooth.metrics import accuracy

train, test = load_compas(encoding="binned", sensitive="sex").split(random_state=0)


# %%
# A module takes rows and returns one logit per row. This one multiplies pairs of features.


class Pairwise(nn.Module):
    """A linear part and products of two projections."""

    def __init__(self, features: int, rank: int = 4) -> None:
        super().__init__()
        self.linear = nn.Linear(features, 1)
        self.left = nn.Linear(features, rank, bias=False)
        self.right = nn.Linear(features, rank, bias=False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Return one logit per row."""
        return self.linear(x) + (self.left(x) * self.right(x)).sum(dim=1, keepdim=True)


# %%
# Its score is smoothed by drawing noise on the parameters: deterministic for a seed, with an
# interval that holds for finitely many draws.

clf = FairSmoothClassifier(
    sigma=0.2, module=Pairwise(train.X.shape[1]), n_draws=500, max_iter=15, random_state=0
)
clf.fit(train.X, train.y, sensitive_features=train.sensitive_features)
print(f"accuracy {accuracy(test.y, clf.predict(test.X)):.3f}")
print(clf.certificate_)
