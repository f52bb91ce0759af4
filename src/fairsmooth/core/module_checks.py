"""What a user's module must be, for smoothing and Theorem 2 to say anything about it."""

import copy
from collections.abc import Callable

import torch
from torch import Tensor, nn
from torch.nn.parameter import is_lazy

from fairsmooth.core.architecture import ModuleNetwork
from fairsmooth.exceptions import InputError

# Rows on which a module is tried out; two halves of them are also evaluated apart.
_TRIED_ROWS = 64
# A row computed in another batch may differ by rounding, which float64 keeps far below this.
_ROUNDING = 1e-6


def private_copy(module: nn.Module) -> nn.Module:
    """Copy a module in float64 and evaluation mode, refusing what cannot be smoothed."""
    if not isinstance(module, nn.Module):
        raise InputError(f"Expected module to be a torch.nn.Module, got {module!r}.")
    name = type(module).__name__
    if any(is_lazy(value) for value in (*module.parameters(), *module.buffers())):
        raise InputError(
            f"Expected a module whose parameters have a shape, got {name} with lazy ones. "
            "Call it once on a few rows first."
        )
    trainable = [value for value in module.parameters() if value.requires_grad]
    if not trainable:
        raise InputError(
            f"Expected a module with trainable parameters, got {name}, which has none. "
            "Parameters with requires_grad=False are kept as they are."
        )
    if any(value.is_complex() for value in trainable):
        raise InputError(
            f"Expected real parameters, got complex ones in {name}. "
            "Hold their real and imaginary parts as two real parameters."
        )
    try:
        return copy.deepcopy(module).eval().double()
    except (TypeError, RuntimeError) as error:
        raise InputError(
            f"Expected a module that copy.deepcopy can copy, got {name}: {error}"
        ) from error


def require_one_logit_per_row(architecture: ModuleNetwork, X: Tensor) -> None:
    """Require one finite real logit per row that depends on the row and nothing else.

    Evaluated on the first rows of ``X``: twice with other seeds, since randomness
    that evaluation mode does not switch off makes the certificate meaningless, and in halves,
    since a logit that changes with the rest of the batch is no function of the row.
    """
    name = type(architecture.module).__name__
    rows = X[:_TRIED_ROWS].double()
    evaluate = _in_evaluation(architecture.module, name)
    first = evaluate(rows, 0)
    if first.shape not in {(len(rows),), (len(rows), 1)} or not first.is_floating_point():
        raise InputError(
            f"Expected one real logit per row from {name}, shape ({len(rows)},) or "
            f"({len(rows)}, 1), got shape {tuple(first.shape)} of {first.dtype}."
        )
    if not bool(torch.isfinite(first).all()):
        raise InputError(
            f"Expected finite logits from {name}, got NaN or infinity in "
            f"{int((~torch.isfinite(first)).sum())} of the first {len(rows)} rows. "
            "Check its starting parameters and the scale of the columns."
        )
    if not torch.equal(first, evaluate(rows, 1)):
        raise InputError(
            f"Expected {name} to give the same logits twice in evaluation mode, got others: "
            "it draws random numbers. Remove what is random, or make it depend on self.training."
        )
    half = len(rows) // 2
    apart = torch.cat([evaluate(part, 0) for part in (rows[:half], rows[half:]) if len(part)])
    if bool(((apart - first).abs() > _ROUNDING * (1.0 + first.abs())).any()):
        raise InputError(
            f"Expected each row's logit to depend on that row alone, got one from {name} that "
            "changes with the rest of the batch. Batch normalisation needs running statistics."
        )


def _in_evaluation(module: nn.Module, name: str) -> Callable[[Tensor, int], Tensor]:
    def evaluate(rows: Tensor, seed: int) -> Tensor:
        with torch.no_grad(), torch.random.fork_rng(devices=[]):
            torch.default_generator.manual_seed(seed)
            try:
                output = module(rows)
            except Exception as error:
                raise InputError(
                    f"Expected a module that takes rows of {rows.shape[1]} features, got {name}, "
                    f"which failed: {error}"
                ) from error
        if not isinstance(output, Tensor):
            raise InputError(
                f"Expected one tensor of logits from {name}, got {type(output).__name__}."
            )
        return output

    return evaluate
