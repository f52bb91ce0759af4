"""ARL, FCRL and Implicit beside their authors' code: the same rows, several seeds.

The authors' code is not part of this repository. Get it and give its path:

    python benchmarks/beside_authors.py arl group_agnostic_fairness --python TENSORFLOW/bin/python
    python benchmarks/beside_authors.py fcrl fairness-via-contrastive-estimation
    python benchmarks/beside_authors.py implicit fair-path

Their models, losses and (Implicit) training loop run as published, on the processor, with
our defaults; what needs their logging, a graphics card or TensorFlow 1 is stood in for.
Every seed is another split of 70/30 and another start. There is no goal: the table shows both.
"""

import argparse
import subprocess
import sys
import tempfile
import types
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import torch
from _report import Row, arguments, report
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

from fairsmooth.baselines import ARLClassifier, FCRLClassifier, ImplicitPathAlignmentClassifier
from fairsmooth.datasets import FairDataset, entry
from fairsmooth.metrics import rates

# Enough for 500 rows of either group in the training part.
QUICK_ROWS = 4000
N_COMPONENTS = 8

Score = Callable[[FairDataset, FairDataset, int], np.ndarray]


class _Box(dict):
    """Stands in for the dictionary with attributes that the authors of FCRL import."""

    __getattr__ = dict.__getitem__


def _singles(dataset: FairDataset) -> torch.Tensor:
    return torch.tensor(np.asarray(dataset.X, dtype=np.float32))


def our_arl(train: FairDataset, test: FairDataset, seed: int) -> np.ndarray:
    model = ARLClassifier(random_state=seed)
    model.fit(train.X, train.y, sensitive_features=train.sensitive_features)
    return model.predict_proba(test.X)[:, 1]


def our_fcrl(train: FairDataset, test: FairDataset, seed: int) -> np.ndarray:
    model = FCRLClassifier(random_state=seed)
    model.fit(train.X, train.y, sensitive_features=train.sensitive_features)
    return model.predict_proba(test.X)[:, 1]


def our_implicit(train: FairDataset, test: FairDataset, seed: int) -> np.ndarray:
    model = ImplicitPathAlignmentClassifier(random_state=seed)
    model.fit(train.X, train.y, sensitive_features=train.sensitive_features)
    return model.predict_proba(test.X, sensitive_features=test.sensitive_features)[:, 1]


def their_fcrl(checkout: Path) -> Score:
    """Return their model, loss and architecture in a plain loop, at our number of epochs."""
    for name in ("lib", "lib.src", "box"):
        sys.modules[name] = types.ModuleType(name)
    sys.modules["lib"].__path__ = [str(checkout / "lib")]
    sys.modules["lib.src"].__path__ = [str(checkout / "lib" / "src")]
    sys.modules["lib"].BaseModel = torch.nn.Module
    sys.modules["box"].Box = _Box
    sys.path.insert(0, str(checkout))
    from src.arch.adult.adult_fcrl import get_arch
    from src.models.fcrl_model import FCRL

    ours = FCRLClassifier()

    def score(train: FairDataset, test: FairDataset, seed: int) -> np.ndarray:
        torch.manual_seed(seed)
        kinds = {"c_type": "binary", "c_size": 2, "y_type": "binary", "y_size": 2}
        parts = get_arch((train.X.shape[1],), N_COMPONENTS, **kinds)
        weight = ours.information_weight
        model = FCRL(
            **kinds,
            **parts,
            z_size=N_COMPONENTS,
            latent_distribution="gaussian",
            beta=weight / 2,
            lambda_=weight,
        )
        optimizer = torch.optim.Adam(
            model.parameters(), lr=ours.learning_rate, weight_decay=ours.weight_decay
        )
        X, y = _singles(train), torch.tensor(train.y)[:, None]
        codes = torch.tensor(train.groups.codes.astype(np.int64))[:, None]
        for _ in range(ours.n_epochs):
            for rows in torch.randperm(len(X)).split(ours.batch_size):
                batch = X[rows], codes[rows], y[rows]
                optimizer.zero_grad()
                loss, _ = model.loss(model(batch), batch)
                loss.backward()
                optimizer.step()
        with torch.no_grad():
            seen, unseen = (
                model._sample(*model.encode(_singles(part))).numpy() for part in (train, test)
            )
        head = make_pipeline(StandardScaler(), LogisticRegression()).fit(seen, train.y)
        return head.predict_proba(unseen)[:, 1]

    return score


def their_implicit(checkout: Path) -> Score:
    """Return their networks and their training function."""
    torch.Tensor.cuda = lambda self, *_, **__: self
    sys.path.insert(0, str(checkout / "toxic"))
    from model import Clf, Fea
    from utils import train_implicit

    ours = ImplicitPathAlignmentClassifier()
    options = {"lr": ours.learning_rate, "eps": ours.adam_epsilon}

    def score(train: FairDataset, test: FairDataset, seed: int) -> np.ndarray:
        torch.manual_seed(seed)
        # Theirs draws batches from the global stream.
        np.random.seed(seed)
        networks = Fea(input_size=train.X.shape[1]), Clf(), Clf()
        optimizers = [torch.optim.Adam(each.parameters(), **options) for each in networks]
        train_implicit(
            *networks,
            torch.nn.BCELoss(),
            *optimizers,
            _singles(train).numpy(),
            train.groups.codes,
            train.y,
            kappa=ours.alignment_weight,
            batch_size=ours.batch_size,
            n_epoch=ours.n_iterations,
            max_inner=ours.n_head_steps,
            out_step=ours.n_solver_steps,
        )
        with torch.no_grad():
            features = networks[0](_singles(test))
            scores = torch.stack([head(features) for head in networks[1:]], dim=1).numpy()
        return scores[np.arange(len(test)), test.groups.codes]

    return score


def their_arl(checkout: Path, python: str) -> Score:
    """Return their model, trained in an interpreter with TensorFlow for as many batches."""
    program = Path(__file__).with_name("_arl_in_tensorflow.py")
    module = checkout / "adversarial_reweighting_model.py"

    def score(train: FairDataset, test: FairDataset, seed: int) -> np.ndarray:
        ours = ARLClassifier()
        n_joint = (ours.n_steps - ours.pretrain_steps) // 2
        # What centres and scales the columns is the same for both.
        shown = ARLClassifier(n_steps=1).fit(
            train.X, train.y, sensitive_features=train.sensitive_features
        )
        rows, unseen = (
            ((np.asarray(part.X) - shown.center_) / shown.scale_).astype(np.float32)
            for part in (train, test)
        )
        with tempfile.TemporaryDirectory() as folder:
            given, found = Path(folder, "rows.npz"), Path(folder, "scores.npy")
            np.savez(
                given,
                X=rows,
                y=train.y,
                test=unseen,
                n_batches=ours.pretrain_steps + n_joint,
                n_pretrain=ours.pretrain_steps,
                batch_size=ours.batch_size,
                learning_rate=ours.learning_rate,
                adversary_learning_rate=ours.adversary_learning_rate,
            )
            subprocess.run([python, program, module, given, found, str(seed)], check=True)
            return np.load(found).astype(np.float64)

    return score


METHODS: dict[str, tuple[Score, Callable[..., Score]]] = {
    "arl": (our_arl, their_arl),
    "fcrl": (our_fcrl, their_fcrl),
    "implicit": (our_implicit, their_implicit),
}


def sufficiency_gap(decisions: np.ndarray, labels: np.ndarray, codes: np.ndarray) -> float:
    """Return the mean over c of the distance between the groups' P(y = c | decision = c)."""
    gaps = []
    for c in (0, 1):
        first, second = (
            np.mean(labels[(decisions == c) & (codes == group)] == c) for group in (0, 1)
        )
        gaps.append(abs(first - second))
    return float(np.mean(gaps))


def trials(options: argparse.Namespace) -> Iterator[Row]:
    ours, theirs = METHODS[options.method]
    interpreter = (options.python,) if options.method == "arl" else ()
    sides = {"authors": theirs(options.checkout, *interpreter), "ours": ours}
    for case in options.cases:
        name, sensitive = case.split("-")
        dataset = entry(name).load(encoding=options.encoding, sensitive=sensitive)
        if options.quick:
            dataset = dataset.take(np.random.default_rng(0).permutation(len(dataset))[:QUICK_ROWS])
        for seed in range(1 if options.quick else options.seeds):
            train, test = dataset.split(test_size=0.3, random_state=seed)
            for side, score in sides.items():
                print(f"{case} seed {seed} {side}", file=sys.stderr)
                scores = score(train, test, seed)
                yield {"case": case, "side": side, "seed": seed, **numbers(scores, test)}


def numbers(scores: np.ndarray, test: FairDataset) -> dict[str, float]:
    decisions = (scores > 0.5).astype(int)
    found = rates.measure(decisions, test.y, test.groups)
    wanted = ("accuracy", "demographic_parity", "equalized_odds_sum")
    return {
        **{name: float(found[name]) for name in wanted},
        "sufficiency_gap": sufficiency_gap(decisions, test.y, test.groups.codes),
        "auc": float(roc_auc_score(test.y, scores)),
    }


def summary(rows: list[Row]) -> Iterator[Row]:
    """Yield mean and deviation over seeds of every number, a line per case and side."""
    for case, side in dict.fromkeys((row["case"], row["side"]) for row in rows):
        own = [row for row in rows if (row["case"], row["side"]) == (case, side)]
        numbers = [key for key, value in own[0].items() if isinstance(value, float)]
        values = {key: np.array([row[key] for row in own]) for key in numbers}
        yield {
            "case": case,
            "side": side,
            "seeds": len(own),
            **{key: f"{each.mean():.3f} ± {each.std():.3f}" for key, each in values.items()},
        }


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("method", choices=METHODS)
    parser.add_argument("checkout", type=Path, help="a checkout of the authors' code")
    parser.add_argument("--python", default="python", help="one with TensorFlow 2.15, for arl")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--encoding", default="binned")
    parser.add_argument("--cases", nargs="*", default=["adult-sex", "compas-race"])
    options = parser.parse_args()
    torch.set_num_threads(1)
    threadpool_limits(1)
    rows = list(trials(options))
    report([], rows if options.json else list(summary(rows)), as_json=options.json)


if __name__ == "__main__":
    main()
