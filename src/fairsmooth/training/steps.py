"""Steps of Adam and of gradient descent: torch's own arithmetic, without its optimiser objects.

The first step of a ``torch.optim.Optimizer`` loads torch's compiler, which takes longer than many a
training. Its functions do the same to the last bit and load nothing.
"""

from collections.abc import Callable
from dataclasses import dataclass, field

import torch
from torch import Tensor
from torch.optim.adam import adam

_BETAS, _EPSILON = (0.9, 0.999), 1e-8


@dataclass(eq=False)
class Descent:
    """Gradient descent, as :class:`torch.optim.SGD` does it.

    Attributes
    ----------
    parameters : Tensor
        Changed in place.
    learning_rate : float
    state : dict of Tensor
        What steps leave for later ones.
    """

    parameters: Tensor
    learning_rate: float
    state: dict[str, Tensor] = field(default_factory=dict)

    @torch.no_grad()
    def step(self, gradient: Tensor) -> None:
        """Go one step down."""
        self.parameters.add_(gradient, alpha=-self.learning_rate)


@dataclass(eq=False)
class Adam(Descent):
    """Adam, as :class:`torch.optim.Adam` does it without further options."""

    def __post_init__(self) -> None:
        blank = torch.zeros_like(self.parameters, requires_grad=False)
        count = torch.tensor(0.0, dtype=torch.float32)
        self.state = {"step": count, "exp_avg": blank, "exp_avg_sq": blank.clone()}

    @torch.no_grad()
    def step(self, gradient: Tensor) -> None:
        """Go one step, scaled by running means of the gradient and of its square."""
        adam(
            [self.parameters],
            [gradient],
            [self.state["exp_avg"]],
            [self.state["exp_avg_sq"]],
            [],
            [self.state["step"]],
            foreach=False,
            amsgrad=False,
            beta1=_BETAS[0],
            beta2=_BETAS[1],
            lr=self.learning_rate,
            weight_decay=0.0,
            eps=_EPSILON,
            maximize=False,
        )


STEPS: dict[str, Callable[[Tensor, float], Descent]] = {"sgd": Descent, "adam": Adam}
