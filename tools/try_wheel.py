"""Build sdist and wheel, and try the wheel where nothing else is: ``make wheel``.

An environment of its own gets the wheel without extras first: its megabytes and the seconds to
install it are printed, and the commands of the base are run on files of the tests. Then it gets
the extra ``train``, and the demo is run. ``--lowest`` installs the lowest versions that the
bounds allow instead of those of ``constraints.txt``, by ``uv``; ``--base`` ends after the base.
"""

import argparse
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).parents[1]
MODELS = ROOT / "tests" / "data" / "models_v1"
GPU = ("nvidia", "triton", "cuda")
# What a place outside the repository shows is the wheel's, not the source tree's.
QUIET = ("--quiet", "--disable-pip-version-check")


def main() -> None:
    options = _options()
    place = (ROOT / "out" / "wheel").resolve()
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir(parents=True)
    wheel = _build(place)
    python = _environment(place / "env", options.python)
    _install(python, wheel, "", lowest=options.lowest)
    _try_base(python, place)
    if not options.base:
        _install(python, wheel, "[train]", lowest=options.lowest)
        _run(python, "-m", "fairsmooth", "demo", "--out", str(place / "demo"), at=place)
        if not (place / "demo" / "report.html").is_file():
            raise SystemExit("Expected the demo to write a report, found none.")
    print("The wheel works.")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--python", default=sys.executable, help="interpreter to try")
    parser.add_argument("--lowest", action="store_true", help="lowest versions, by uv")
    parser.add_argument("--base", action="store_true", help="stop after the base")
    return parser.parse_args()


def _build(place: Path) -> Path:
    """Return the wheel, built from the sdist, which is built from the tree."""
    builder = _environment(place / "builder", sys.executable)
    _run(builder, "-m", "pip", "install", *QUIET, "build", at=place)
    _run(builder, "-m", "build", "--outdir", str(place / "dist"), str(ROOT), at=place)
    (wheel,) = (place / "dist").glob("*.whl")
    (source,) = (place / "dist").glob("*.tar.gz")
    print(f"{source.name} {source.stat().st_size / 1e6:.1f} MB, "
          f"{wheel.name} {wheel.stat().st_size / 1e6:.1f} MB")  # fmt: skip
    return wheel


def _environment(place: Path, python: str) -> Path:
    subprocess.run([python, "-m", "venv", place], check=True)
    return place / "bin" / "python"


def _install(python: Path, wheel: Path, extra: str, *, lowest: bool) -> None:
    began = time.perf_counter()
    # Of torch the version of constraints.txt, which has builds without GPU packages.
    wanted = [f"{wheel}{extra}", *(["torch==2.13.0"] if extra else [])]
    if lowest:
        how = ["--quiet", "--resolution", "lowest-direct", "--python", python]
        subprocess.run(["uv", "pip", "install", *how, *wanted], check=True)
    else:
        constraints = ("-c", str(ROOT / "constraints.txt"))
        _run(python, "-m", "pip", "install", *QUIET, *constraints, *wanted, at=wheel.parent)
    seconds = time.perf_counter() - began
    packages = {path.name.lower() for path in _site(python).iterdir()}
    brought = sorted(name for name in packages if name.startswith(GPU))
    print(f"fairsmooth{extra}: {_megabytes(_site(python)):.0f} MB, {seconds:.0f} s to install, "
          f"GPU packages: {', '.join(brought) or 'none'}")  # fmt: skip
    if not extra and (brought or "torch" in packages):
        raise SystemExit("Expected a base without torch and GPU packages, got them.")


def _try_base(python: Path, place: Path) -> None:
    model, table, out = MODELS / "table-race.safetensors", MODELS / "table.csv", place / "out.csv"
    scored = (str(out), "--scores", "prediction", "--sensitive", "race")
    for command in (
        ("verify", str(model)),
        ("certificate", str(model)),
        ("predict", str(model), str(table), "-o", str(out), "--keep", "race"),
        ("guarantee", *scored, "--max-dp", "1"),
        ("monitor", *scored, "--max-dp", "1", "--state", str(place / "state.json")),
        ("audit", *scored),
    ):
        began = time.perf_counter()
        _run(python, "-m", "fairsmooth", *command, at=place, quiet=True)
        print(f"fairsmooth {command[0]}: {time.perf_counter() - began:.1f} s")


def _run(python: Path, *arguments: str, at: Path, quiet: bool = False) -> None:
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    output = subprocess.DEVNULL if quiet else None
    subprocess.run([python, *arguments], cwd=at, env=environment, check=True, stdout=output)


def _site(python: Path) -> Path:
    return next((python.parents[1] / "lib").glob("python3.*")) / "site-packages"


def _megabytes(folder: Path) -> float:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()) / 1e6


if __name__ == "__main__":
    main()
