"""Put one fault at a time into a copy of the library and see whether the tests notice.

``python tools/mutants.py`` runs, for every fault of ``mutant_faults.py``, the tests that
should notice it. It ends with code 0 only if each fault is noticed, or survives and is
declared equivalent. The tests are first run without a fault: they must pass. A fault
whose text is no longer found exactly once stops everything before any test is run.

    python tools/mutants.py                     # all, as a table
    python tools/mutants.py --only paper-share  # one; may be given again
    python tools/mutants.py --json              # one JSON object on standard output
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from rich.console import Console
from rich.table import Table

ROOT = Path(__file__).resolve().parents[1]
COPIED = ("src", "tests", "pyproject.toml")


@dataclass(frozen=True)
class Fault:
    """One line changed for the worse.

    Attributes
    ----------
    name : str
    path : str
        The file, from the root of the repository.
    old, new : str
        Text that occurs exactly once in the file, and what replaces it.
    tests : tuple of str
        What pytest is given: the tests that should fail.
    equivalent : str
        Why no test can notice it; empty for a fault that must be noticed.
    """

    name: str
    path: str
    old: str
    new: str
    tests: tuple[str, ...]
    equivalent: str = ""


@dataclass(frozen=True)
class Outcome:
    """What the tests said of one fault."""

    name: str
    path: str
    verdict: str
    expected: bool
    seconds: float
    noticed_by: str


class StaleFault(Exception):
    """A fault that no longer fits the tree."""


def mutated(fault: Fault, root: Path) -> str:
    """Return the file's text with the fault in it; refuse text that is not there once."""
    path = root / fault.path
    if not path.is_file():
        raise StaleFault(f"{fault.name}: expected the file {fault.path}, found none.")
    text = path.read_text()
    count = text.count(fault.old)
    if count != 1:
        raise StaleFault(
            f"{fault.name}: expected its old text exactly once in {fault.path}, "
            f"found it {count} times: {fault.old!r}."
        )
    return text.replace(fault.old, fault.new)


def check(faults: Sequence[Fault], root: Path) -> None:
    """Refuse a list in which a fault does not fit, naming all that do not."""
    stale = []
    for fault in faults:
        try:
            mutated(fault, root)
        except StaleFault as error:
            stale.append(str(error))
        stale += [
            f"{fault.name}: expected the tests {test}, found none."
            for test in fault.tests
            if not (root / test.split("::")[0]).exists()
        ]
    if stale:
        raise StaleFault("\n".join(stale))


def copy_tree(root: Path, target: Path) -> None:
    """Copy what the tests need, without compiled files: those could hide a fault."""
    for name in COPIED:
        source = root / name
        if source.is_dir():
            shutil.copytree(source, target / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy2(source, target / name)


def run_tests(tests: Sequence[str], tree: Path) -> tuple[int, str]:
    """Run pytest in a tree until the first failure; return its code and what failed."""
    environment = os.environ | {
        "PYTHONPATH": str(tree / "src"),
        "PYTHONDONTWRITEBYTECODE": "1",
        "OMP_NUM_THREADS": os.environ.get("OMP_NUM_THREADS", "1"),
    }
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", *tests]
    run = subprocess.run(command, cwd=tree, env=environment, capture_output=True, text=True)
    lines = [line for line in run.stdout.splitlines() if line.startswith(("FAILED", "ERROR"))]
    last = (run.stdout.strip() or run.stderr.strip() or "no output").splitlines()[-1]
    first = lines[0].split(" - ")[0].partition(" ")[2] if lines else last
    return run.returncode, first


def try_fault(fault: Fault, tree: Path) -> Outcome:
    """Put a fault into the tree, run its tests, and take it out again."""
    path = tree / fault.path
    original = path.read_text()
    begun = time.perf_counter()
    path.write_text(mutated(fault, tree))
    try:
        code, noticed_by = run_tests(fault.tests, tree)
    finally:
        path.write_text(original)
    # Code 1: tests ran and failed. Anything else but 0: they could not run, which shows nothing.
    verdict = {0: "survived", 1: "killed"}.get(code, f"broken (pytest ended with {code})")
    if code == 0 and fault.equivalent:
        verdict = "equivalent"
    expected = verdict == ("equivalent" if fault.equivalent else "killed")
    seconds = time.perf_counter() - begun
    return Outcome(
        fault.name, fault.path, verdict, expected, seconds, "" if code == 0 else noticed_by
    )


def try_all(faults: Sequence[Fault], root: Path, progress: Console) -> list[Outcome]:
    """Try every fault on a copy of the tree, once its tests pass without any."""
    check(faults, root)
    with tempfile.TemporaryDirectory(prefix="mutants-") as name:
        tree = Path(name)
        copy_tree(root, tree)
        tests = sorted({test for fault in faults for test in fault.tests})
        progress.print(f"{len(tests)} test files and functions without a fault")
        code, failed = run_tests(tests, tree)
        if code:
            raise StaleFault(f"Expected the tests to pass without a fault, got: {failed}.")
        outcomes = []
        for fault in faults:
            outcomes.append(try_fault(fault, tree))
            progress.print(f"{outcomes[-1].verdict:10} {fault.name}", markup=False)
    return outcomes


def show(outcomes: Sequence[Outcome], faults: Sequence[Fault]) -> None:
    table = Table("fault", "file", "verdict", "s", "noticed by, or why not")
    reasons = {fault.name: fault.equivalent for fault in faults}
    for one in outcomes:
        verdict = one.verdict if one.expected else f"{one.verdict.upper()} !"
        why = one.noticed_by or reasons[one.name]
        table.add_row(
            one.name,
            one.path.removeprefix("src/fairsmooth/"),
            verdict,
            f"{one.seconds:.0f}",
            why.rpartition("/")[2],
        )
    console = Console(width=max(140, Console().width))
    console.print(table)
    console.print(summary(outcomes))


def summary(outcomes: Sequence[Outcome]) -> str:
    kinds = dict.fromkeys(("killed", "equivalent", "survived"), 0)
    for one in outcomes:
        kinds[one.verdict] = kinds.get(one.verdict, 0) + 1
    counts = ", ".join(f"{count} {kind}" for kind, count in kinds.items() if count)
    return f"{len(outcomes)} faults: {counts}"


def chosen(names: Sequence[str], faults: Sequence[Fault]) -> list[Fault]:
    known = {fault.name for fault in faults}
    unknown = [name for name in names if name not in known]
    if unknown:
        raise StaleFault(f"Expected names among {', '.join(sorted(known))}, got {unknown}.")
    return [fault for fault in faults if not names or fault.name in names]


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", action="store_true", help="print one JSON object, nothing else")
    parser.add_argument("--only", action="append", default=[], metavar="NAME", help="this fault")
    options = parser.parse_args(arguments)
    from mutant_faults import FAULTS

    progress = Console(stderr=True)
    try:
        faults = chosen(options.only, FAULTS)
        outcomes = try_all(faults, ROOT, progress)
    except StaleFault as error:
        print(error, file=sys.stderr)
        return 2
    if options.json:
        rows = [asdict(one) for one in outcomes]
        print(json.dumps({"faults": rows, "summary": summary(outcomes)}))
    else:
        show(outcomes, faults)
    return 0 if all(one.expected for one in outcomes) else 1


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parent))
    # The list imports Fault from here: one class, not one for the script and one for the module.
    sys.modules["mutants"] = sys.modules["__main__"]
    sys.exit(main())
