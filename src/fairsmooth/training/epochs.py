"""What a minibatch solver has after an epoch, kept in the journal of its training, if any."""

import math
from dataclasses import dataclass, field

import numpy as np
import torch
from torch import Tensor

from fairsmooth.training.journal import Arrays, current, question_of
from fairsmooth.training.problem import Terms
from fairsmooth.training.steps import Descent


@dataclass(eq=False)
class Epochs:
    """Parameters, optimiser and all that decides when to stop.

    Attributes
    ----------
    parameters : Tensor of shape (K, m)
        Trained by the optimiser.
    optimiser : Descent
    best, best_loss, stale
        Parameters with the least loss on held-out rows, that loss, and epochs since.
    objectives : list of float
        Of every step.
    means : list of Terms
        Of every epoch.
    """

    parameters: Tensor
    optimiser: Descent
    best: Tensor
    best_loss: float = math.inf
    stale: int = 0
    objectives: list[float] = field(default_factory=list)
    means: list[Terms] = field(default_factory=list)

    @classmethod
    def of(cls, parameters: Tensor, optimiser: Descent) -> "Epochs":
        """Begin at some parameters."""
        return cls(parameters, optimiser, parameters.detach().clone())

    def judge(self, loss: float) -> None:
        """Take the loss on held-out rows into account."""
        self.stale = 0 if loss < self.best_loss else self.stale + 1
        if loss < self.best_loss:
            self.best, self.best_loss = self.parameters.detach().clone(), loss

    def has_stopped(self, patience: int | None) -> bool:
        """Tell whether the loss on held-out rows has not improved for so many epochs."""
        judged = math.isfinite(self.best_loss)
        return patience is not None and judged and self.stale >= patience

    def recall(self, what: str, start: Tensor) -> None:
        """Take up the state after the last epoch that the journal has, if it has one."""
        journal = current()
        found = None if journal is None else journal.latest(_question(what, start))
        if journal is None or found is None:
            return
        state = {name[6:]: array for name, array in found.items() if name.startswith("state ")}
        whole = {"parameters": self.parameters.shape, "best": self.best.shape, "stopping": (2,)}
        if not all(found.get(name, np.empty(())).shape == tuple(s) for name, s in whole.items()):
            raise journal.foreign("an epoch of another network")
        if not {"objectives", "means"} <= found.keys() or found["means"].ndim != 2:
            raise journal.foreign("an epoch without its history")
        shapes = {name: tuple(tensor.shape) for name, tensor in self.optimiser.state.items()}
        if {name: array.shape for name, array in state.items()} != shapes:
            raise journal.foreign("an epoch of another optimiser")
        with torch.no_grad():
            self.parameters.copy_(torch.from_numpy(found["parameters"]))
            self.best.copy_(torch.from_numpy(found["best"]))
            for name, array in state.items():
                self.optimiser.state[name].copy_(torch.from_numpy(array))
        least, stale = found["stopping"].tolist()
        self.best_loss, self.stale = (least if stale >= 0 else math.inf), max(0, int(stale))
        self.objectives = found["objectives"].tolist()
        self.means = [
            Terms(row[0], row[2:], row[1]) for row in torch.from_numpy(found["means"]).unbind()
        ]

    def keep(self, what: str, start: Tensor) -> None:
        """Write the state into the journal of this training, if it has one."""
        journal = current()
        if journal is None:
            return
        judged = math.isfinite(self.best_loss)
        stopping = [self.best_loss, float(self.stale)] if judged else [0.0, -1.0]
        rows = [[m.objective.item(), m.disparity.item(), *m.losses.tolist()] for m in self.means]
        arrays: Arrays = {
            "parameters": _array(self.parameters),
            "best": _array(self.best),
            "stopping": np.array(stopping),
            "objectives": np.array(self.objectives),
            "means": np.array(rows),
        }
        state = self.optimiser.state.items()
        arrays |= {f"state {name}": _array(tensor) for name, tensor in state}
        journal.keep(_question(what, start), arrays)


def _question(what: str, start: Tensor) -> str:
    return question_of(f"epochs {what}", _array(start))


def _array(tensor: Tensor) -> np.ndarray:
    return tensor.detach().cpu().double().numpy()
