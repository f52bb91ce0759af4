"""Many independent jobs on a Dask cluster, through joblib.

A job is a function of its arguments, with seeds of its own, and what it returns is written here,
by the process that asked. So a worker that is killed costs time: the scheduler gives its
jobs to others, and the results are those of one machine.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from joblib import parallel_config

import fairsmooth
from fairsmooth.exceptions import InputError

_SECONDS_TO_CONNECT = 10


@contextmanager
def on_cluster(address: str | None) -> Iterator[int | None]:
    """Let joblib's ``Parallel`` work on the cluster of a scheduler while a block runs.

    Parameters
    ----------
    address : str or None
        Such as ``tcp://10.0.0.5:8786``. None leaves everything as it is.

    Yields
    ------
    int or None
        How many jobs the cluster's workers can do at once.

    Raises
    ------
    InputError
        If there is no scheduler at the address, if it has no workers, or if one of them has
        another version of this library.
    """
    if address is None:
        yield None
        return
    with _client(address) as client:
        threads = client.nthreads()
        if not threads:
            raise InputError(
                f"Expected workers at the scheduler {address}, got none. "
                f"Start one with: dask worker {address}"
            )
        _require_same_version(client.run(_version))
        with parallel_config(backend="dask", client=client, n_jobs=sum(threads.values())):
            yield sum(threads.values())


@contextmanager
def _client(address: str) -> Iterator[Any]:
    try:
        from distributed import Client
    except ImportError as error:
        raise InputError(
            "Expected dask to be installed to use a scheduler, found none. "
            "Install it with: pip install 'fairsmooth[cluster]'."
        ) from error
    try:
        client = Client(address, timeout=_SECONDS_TO_CONNECT, set_as_default=False)
    except (OSError, TimeoutError, ValueError) as error:
        raise InputError(
            f"Expected a Dask scheduler at {address}, got none there. "
            "Start one with: dask scheduler"
        ) from error
    with client:
        yield client


def _version() -> str:
    return fairsmooth.__version__


def _require_same_version(versions: dict[str, str]) -> None:
    for worker, version in versions.items():
        if version != fairsmooth.__version__:
            raise InputError(
                f"Expected fairsmooth {fairsmooth.__version__} on every worker, got {version} on "
                f"{worker}."
            )
