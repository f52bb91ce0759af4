"""Run the tests that compare numbers or files under other kernels than this CPU's own.

Libraries choose their code by the CPU: another machine adds in another order. Four named
combinations stand for other machines; each runs in a process of its own, because a library
looks at its environment once, when it is loaded.

    python tools/kernels.py                 # all four, as `make kernels` does
    python tools/kernels.py baseline        # one of them; what follows -- goes to pytest
"""

import argparse
import os
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CHOSEN = "numbers and not slow and not gpu and not repro"


def _environment(aten: str, mkl: str, openblas: str, threads: int) -> dict[str, str]:
    counts = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS")
    return {
        "ATEN_CPU_CAPABILITY": aten,
        "MKL_ENABLE_INSTRUCTIONS": mkl,
        "OPENBLAS_CORETYPE": openblas,
        **{name: str(threads) for name in counts},
    }


KERNELS = {
    "baseline": _environment("default", "SSE4_2", "SandyBridge", 1),
    "avx2": _environment("avx2", "AVX2", "Haswell", 1),
    "baseline-two-threads": _environment("default", "AVX2", "SandyBridge", 2),
    "avx2-two-threads": _environment("avx2", "SSE4_2", "Haswell", 2),
}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(KERNELS)}")
    parser.add_argument("--pytest", default="-n 2 --dist worksteal", help="options of pytest")
    arguments = parser.parse_args()
    unknown = sorted(set(arguments.names) - set(KERNELS))
    if unknown:
        parser.error(f"Expected names among {list(KERNELS)}, got {unknown}.")
    outcomes = {name: _run(name, arguments.pytest.split()) for name in arguments.names or KERNELS}
    for name, (passed, seconds) in outcomes.items():
        print(f"{'ok   ' if passed else 'FAILS'} {name} ({seconds:.0f} s)")
    return 0 if all(passed for passed, _ in outcomes.values()) else 1


def _run(name: str, options: list[str]) -> tuple[bool, float]:
    print(f"== {name}: {' '.join(f'{k}={v}' for k, v in KERNELS[name].items())}", flush=True)
    began = time.perf_counter()
    command = [sys.executable, "-m", "pytest", "-m", CHOSEN, *options, "tests"]
    done = subprocess.run(command, cwd=ROOT, env={**os.environ, **KERNELS[name]}, check=False)
    return done.returncode == 0, time.perf_counter() - began


if __name__ == "__main__":
    sys.exit(main())
