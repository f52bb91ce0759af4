"""Where tensors are worked on."""

import torch

from fairsmooth.exceptions import InputError


def resolve_device(name: str) -> torch.device:
    """Return the device of that name; "auto" is CUDA where there is one, else the CPU.

    Examples
    --------
    >>> resolve_device("cpu")
    device(type='cpu')
    """
    if name == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    available = {
        "cpu": True,
        "cuda": torch.cuda.is_available(),
        "mps": torch.backends.mps.is_available(),
    }
    if name not in available:
        raise InputError(
            f"Expected device to be one of 'auto', 'cpu', 'cuda', 'mps', got {name!r}."
        )
    if not available[name]:
        raise InputError(f"Expected an available device, got {name!r}, which this machine has not.")
    return torch.device(name)


def scoring_device(name: str) -> torch.device:
    """Return the device for scores: the one of that name, but the CPU for "mps".

    Exact scores need float64, which MPS has not.
    """
    device = resolve_device(name)
    return torch.device("cpu") if device.type == "mps" else device
