"""Fair Mixup, FairBatch and FRS beside their authors' code: the same rows, several seeds.

The authors' code is not part of this repository. Get it and give its path:

    python benchmarks/beside_authors_sampling.py fair_mixup fair-mixup
    python benchmarks/beside_authors_sampling.py fairbatch fairbatch
    python benchmarks/beside_authors_sampling.py frs fair-robust-selection

Their networks, samplers and (Fair Mixup) training functions run as published, on the
processor, with our defaults, which are their constants; the short loops around them are
written again. A case is a dataset, where every seed is another split of 70/30 and another
start, or the authors' synthetic rows in the checkout (``released``), where it is another
start. There is no goal: the table shows both sides, and their difference seed by seed.
``from_pooled`` is the gap of the authors of FairBatch: from a group's rate to everyone's.
Their notebooks printed it, and ``--printed`` reads it there instead of training again.
"""

import argparse
import sys
import time
from collections.abc import Callable, Iterator
from copy import deepcopy
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

import _released
import numpy as np
import torch
from _report import Row, arguments, report
from beside_authors import summary
from sklearn.base import clone
from threadpoolctl import threadpool_limits

from fairsmooth.baselines import FairBatchClassifier, FairMixupClassifier, FRSClassifier
from fairsmooth.data.splits import hold_out
from fairsmooth.datasets import FairDataset, entry
from fairsmooth.metrics import rates

# Enough for 500 rows of either group in the training part.
QUICK_ROWS = 4000
NOTIONS = ("demographic_parity", "equalized_odds")
THEIR_NOTIONS = {
    "demographic_parity": "dp",
    "equalized_odds": "eqodds",
    "equal_opportunity": "eqopp",
}
WANTED = ("accuracy", "demographic_parity", "equalized_odds_sum")

CASES = {
    "fair_mixup": ["adult-sex"],
    "fairbatch": ["released", "adult-sex"],
    "frs": ["released-general", "released-targeted", "adult-sex"],
}
# What the authors set for one notion, or for some of their rows.
FAIR_MIXUP = {"demographic_parity": 0.5, "equalized_odds": 2.0}
FAIRBATCH = {"demographic_parity": 450, "equalized_odds": 400, "equal_opportunity": 300}
FRS_TARGETED = {"demographic_parity": 500, "equalized_odds": 450}

Rows = tuple[FairDataset, FairDataset]
Score = Callable[[Any, FairDataset, FairDataset], np.ndarray]


@dataclass(frozen=True)
class Trial:
    """One fit on each side."""

    method: str
    case: str
    notion: str
    seed: int

    def estimator(self) -> Any:
        """Return ours, not fitted: its parameters are the constants of both sides."""
        common = {"notion": self.notion, "random_state": self.seed}
        if self.method == "fair_mixup":
            return FairMixupClassifier(penalty_weight=FAIR_MIXUP[self.notion], **common)
        if self.method == "fairbatch":
            return FairBatchClassifier(n_epochs=FAIRBATCH[self.notion], **common)
        aimed = self.case == "released-targeted"
        return FRSClassifier(n_epochs=FRS_TARGETED[self.notion] if aimed else 400, **common)


Numbers = Callable[[Trial, Rows], dict[str, float]]


def our_scores(ours: Any, train: FairDataset, test: FairDataset) -> np.ndarray:
    ours.fit(train.X, train.y, sensitive_features=train.sensitive_features)
    return ours.predict_proba(test.X)[:, 1]


def _singles(dataset: FairDataset) -> torch.Tensor:
    return torch.tensor(np.asarray(dataset.X, dtype=np.float32))


def their_fair_mixup(checkout: Path, **_: bool) -> Score:
    """Return their network, training and validation, with their choice of the epoch."""
    sys.path.insert(0, str(checkout / "adult"))
    network, functions = import_module("model"), import_module("utils")
    verbs = {
        "demographic_parity": (functions.train_dp, functions.evaluate_dp),
        "equalized_odds": (functions.train_eo, functions.evaluate_eo),
    }

    def score(ours: Any, train: FairDataset, test: FairDataset) -> np.ndarray:
        torch.manual_seed(ours.random_state)
        # Theirs draws batches from the global stream.
        np.random.seed(ours.random_state)
        fit, evaluate = verbs[ours.notion]
        kept, held = hold_out(
            2 * train.y + train.groups.codes,
            ours.validation_fraction,
            permute=np.random.permutation,
            whole=int,
        )
        X, y, codes = _singles(train).numpy(), train.y[:, None], train.groups.codes
        seen, unseen = (X[kept], codes[kept], y[kept]), (X[held], y[held], codes[held])
        model, loss = network.Net(input_size=X.shape[1]), torch.nn.BCELoss()
        optimizer = torch.optim.Adam(model.parameters(), lr=ours.learning_rate)
        gaps, models = [], []
        for _ in range(ours.n_epochs):
            fit(model, loss, optimizer, *seen, "mixup", ours.penalty_weight)
            gaps.append(float(evaluate(model, *unseen)[1]))
            models.append(deepcopy(model))
        best = models[1 + int(np.argmin(gaps[1:]))]
        with torch.no_grad():
            return best(_singles(test))[:, 0].numpy()

    return score


def our_start(ours: Any, train: FairDataset) -> np.ndarray:
    """Return the weights that ours begins with: those it has after a step of no length."""
    still = clone(ours).set_params(n_epochs=1, learning_rate=1e-30)
    return still.fit(train.X, train.y, sensitive_features=train.sensitive_features).weights_


def their_linear_model(checkout: Path, same_start: bool, sampler_of: Callable[..., Any]) -> Score:
    """Return their linear model, trained on the batches that their sampler yields."""
    sys.path.insert(0, str(checkout))
    theirs = import_module("models")

    class Flat(theirs.LogisticRegression):
        """Theirs with one number per row: torch no longer compares (n, 1) with (n,)."""

        def forward(self, rows: torch.Tensor) -> torch.Tensor:
            return super().forward(rows)[:, 0]

    def score(ours: Any, train: FairDataset, test: FairDataset) -> np.ndarray:
        X, target = _singles(train), torch.tensor(train.y, dtype=torch.float32)
        codes = torch.tensor(train.groups.codes.astype(np.float32))
        model = Flat(X.shape[1], 1)
        torch.manual_seed(ours.random_state)
        model.apply(theirs.weights_init_normal)
        if same_start:
            start = torch.tensor(our_start(ours, train), dtype=torch.float32)
            model.model[0].weight.data, model.model[0].bias.data = start[None, :-1], start[-1:]
        optimizer = torch.optim.Adam(model.parameters(), lr=ours.learning_rate)
        loss = torch.nn.BCELoss()
        # Their labels are -1 and +1.
        sampler = sampler_of(ours, model, X, 2 * target - 1, codes)
        for _ in range(ours.n_epochs):
            for drawn in sampler:
                rows = torch.from_numpy(drawn.astype(np.int64))
                optimizer.zero_grad()
                loss((torch.tanh(model(X[rows])) + 1) / 2, target[rows]).backward()
                optimizer.step()
        with torch.no_grad():
            return ((torch.tanh(model(_singles(test))) + 1) / 2).numpy()

    return score


def their_fairbatch(checkout: Path, *, same_start: bool) -> Score:
    def sampler_of(ours: FairBatchClassifier, *tensors: Any) -> Any:
        return import_module("FairBatchSampler").FairBatch(
            *tensors,
            batch_size=ours.batch_size,
            alpha=ours.alpha,
            target_fairness=THEIR_NOTIONS[ours.notion],
            seed=ours.random_state,
        )

    return their_linear_model(checkout, same_start, sampler_of)


def their_frs(checkout: Path, *, same_start: bool) -> Score:
    def sampler_of(ours: FRSClassifier, *tensors: Any) -> Any:
        constants = ("alpha", "batch_size", "tau", "warm_start")
        return import_module("FairRobustSampler").FairRobust(
            *tensors,
            target_fairness=THEIR_NOTIONS[ours.notion],
            parameters=argparse.Namespace(**{name: getattr(ours, name) for name in constants}),
            seed=ours.random_state,
        )

    return their_linear_model(checkout, same_start, sampler_of)


THEIRS = {"fair_mixup": their_fair_mixup, "fairbatch": their_fairbatch, "frs": their_frs}


def parts(options: argparse.Namespace, trial: Trial) -> Rows:
    if trial.case in _released.LABELS:
        return _released.rows(options.checkout, trial.case)
    name, sensitive = trial.case.split("-")
    dataset = entry(name).load(encoding=options.encoding, sensitive=sensitive)
    rows = np.random.default_rng(0).permutation(len(dataset))[: options.rows]
    return dataset.take(rows).split(test_size=0.3, random_state=trial.seed)


def from_pooled(decisions: np.ndarray, test: FairDataset, notion: str) -> float:
    """Return the gap in the authors' notebooks: how far a group's rate is from everyone's."""
    blocks = {
        "demographic_parity": [np.full(len(test), True)],
        "equalized_odds": [test.y == 0, test.y == 1],
        "equal_opportunity": [test.y == 1],
    }[notion]
    codes = test.groups.codes
    return max(
        abs(decisions[block & (codes == group)].mean() - decisions[block].mean())
        for block in blocks
        for group in (0, 1)
    )


def measure(score: Score, trial: Trial, both: Rows) -> dict[str, float]:
    worked = time.process_time()
    decisions = (score(trial.estimator(), *both) > 0.5).astype(int)
    seconds = time.process_time() - worked
    test = both[1]
    found = rates.measure(decisions, test.y, test.groups)
    return {
        **{name: found[name] for name in WANTED},
        "from_pooled": float(from_pooled(decisions, test, trial.notion)),
        "cpu_seconds": seconds,
    }


def rows_of(options: argparse.Namespace, theirs: Numbers, trial: Trial) -> Iterator[Row]:
    both = parts(options, trial)
    sides = {"authors": theirs, "ours": partial(measure, our_scores)}
    found = {}
    for side, numbers in sides.items():
        found[side] = numbers(trial, both)
        print(trial, side, found[side], file=sys.stderr)
    ours, authors = found["ours"], found["authors"]
    found["ours - authors"] = {name: ours[name] - authors[name] for name in authors}
    for side, values in found.items():
        case = f"{trial.case} {trial.notion}"
        yield {"case": case, "side": side, "seed": trial.seed, **values}


def authors_numbers(options: argparse.Namespace) -> Numbers:
    """Return what runs the authors' code, or reads what their notebooks printed."""
    if options.printed:
        return lambda trial, _: _released.printed(options.checkout, trial.case, trial.notion)[
            trial.seed
        ]
    score = THEIRS[options.method](options.checkout, same_start=options.same_start)
    return partial(measure, score)


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("method", choices=THEIRS)
    parser.add_argument("checkout", type=Path, help="a checkout of the authors' code")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--encoding", default="binned")
    parser.add_argument("--cases", nargs="*", help="datasets, such as adult-sex, or released")
    parser.add_argument("--notions", nargs="*", default=NOTIONS, choices=THEIR_NOTIONS)
    parser.add_argument("--rows", type=int, help="take so many rows of a dataset, at random")
    parser.add_argument("--printed", action="store_true", help="take theirs from the notebook")
    parser.add_argument("--same-start", action="store_true", help="give linear models our start")
    options = parser.parse_args()
    if options.quick:
        options.seeds, options.rows = 1, QUICK_ROWS
    torch.set_num_threads(1)
    threadpool_limits(1)
    # Theirs asks for a graphics card.
    torch.Tensor.cuda = lambda self, *_, **__: self
    theirs = authors_numbers(options)
    rows = [
        row
        for case in options.cases or CASES[options.method]
        for notion in options.notions
        for seed in range(options.seeds)
        for row in rows_of(options, theirs, Trial(options.method, case, notion, seed))
    ]
    report([], rows if options.json else list(summary(rows)), as_json=options.json)


if __name__ == "__main__":
    main()
