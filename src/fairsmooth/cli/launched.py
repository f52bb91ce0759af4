"""What ``train`` does when ``torchrun`` started it: refused in one line, or done by all ranks."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from fairsmooth.distributed.launch import number_of_ranks
from fairsmooth.exceptions import InputError


def of_ranks(
    apart: bool,
    encoder: Path | None,
    *,
    wanted: Any,
    parity: str | None,
    columns: str,
    threshold: float | str,
    resume: bool,
) -> Callable[..., None] | None:
    """Return what trains with several ranks, or None if there is one.

    Options that look at all rows at once are refused, before anything is loaded.
    """
    size = number_of_ranks()
    if size == 1:
        for option, given in (("--apart", apart), ("--encoder", encoder)):
            if given:
                raise InputError(
                    f"Expected several ranks with {option}, got one. Start it as torchrun "
                    "--nproc-per-node 3 -m fairsmooth train …"
                )
        return None
    refused = {
        "--guarantee-dp, --guarantee-eo or --min-ratio": wanted is not None,
        "--parity or --parity-limits": parity is not None,
        f"--columns {columns}": columns not in ("auto", "binned", "standardised"),
        f"--threshold {threshold}": isinstance(threshold, str),
        "--resume": resume,
    }
    for option, given in refused.items():
        if given:
            raise InputError(
                f"Expected options that {size} ranks can serve, got {option}, which needs all "
                "rows in one process. Leave it out, or train without torchrun."
            )
    from fairsmooth.cli.ranked import train_by_ranks

    return partial(train_by_ranks, apart=apart, encoder=encoder)
