import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import typer

import fairsmooth
from fairsmooth.cli import main as module
from fairsmooth.cli.advice import for_the_command_line
from fairsmooth.cli.main import COMMANDS, Stopped, main

SOURCE = str(Path(fairsmooth.__file__).parents[1])
MODEL = Path(__file__).parents[2] / "data" / "models_v1" / "linear-logistic.safetensors"
HEAVY = ("torch", "sklearn", "scipy.stats", "scipy.optimize", "matplotlib", "pandas", "optuna")


def python(program, *words, **environment):
    return subprocess.run(
        [sys.executable, "-c", program, *map(str, words)],
        env={**os.environ, "PYTHONPATH": SOURCE, **environment},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize(
    "words",
    [
        ["--help"],
        ["--version"],
        ["train", "--help"],
        ["reproduce", "--help"],
        ["certificate", MODEL],
        ["verify", MODEL],
    ],
    ids=lambda words: words[0],
)
def test_light_commands_load_nothing_heavy(words):
    program = (
        "import sys; from fairsmooth.cli.main import main; code = main(sys.argv[1:]);"
        f"print([name for name in {HEAVY} if name in sys.modules], file=sys.stderr); sys.exit(code)"
    )
    done = python(program, *words)
    assert done.returncode == 0
    assert done.stderr.strip() == "[]"


@pytest.mark.parametrize(
    ("kind", "some"), [("datasets", "adult"), ("methods", "FairBatch"), ("experiments", "table1")]
)
def test_whatever_is_listed_loads_nothing_that_trains_or_draws(kind, some):
    # The entries of datasets and claims are about frames, so pandas is loaded.
    program = (
        "import sys; from fairsmooth.cli.main import main; code = main(sys.argv[1:]);"
        f"heavy = set({HEAVY}) - {{'pandas'}};"
        "print(sorted(heavy & set(sys.modules)), file=sys.stderr); sys.exit(code)"
    )
    done = python(program, "list", kind)
    assert done.returncode == 0, done.stderr
    assert some in done.stdout
    assert done.stderr.strip() == "[]"


@pytest.mark.parametrize(("typed", "expected"), [("tra", "train"), ("train --posit", "--positive")])
def test_the_shell_completes_without_loading_anything_heavy(typed, expected):
    program = (
        "import sys, atexit; atexit.register(lambda: print("
        f"[name for name in {HEAVY} if name in sys.modules], file=sys.stderr));"
        "sys.argv = ['fairsmooth']; from fairsmooth.cli.main import run; run()"
    )
    done = python(
        program,
        COMP_WORDS=f"fairsmooth {typed}",
        COMP_CWORD=str(len(typed.split())),
        _FAIRSMOOTH_COMPLETE="complete_bash",
    )
    assert done.stdout.split() == [expected]
    assert done.stderr.strip() == "[]"


def test_every_command_is_listed_with_its_line_and_has_help(capsys):
    assert main(["--help"]) == 0
    listed = capsys.readouterr().out
    for name, (_, about) in COMMANDS.items():
        assert re.search(rf"^ +{name} +{re.escape(about[:30])}", listed, flags=re.M)
        assert main([name, "--help"]) == 0
        assert "Usage: fairsmooth " + name in capsys.readouterr().out


def test_verify_says_what_its_seed_seeds(capsys):
    assert main(["verify", "--help"]) == 0
    out = capsys.readouterr().out
    assert "Seeds the search of --attack." in out
    assert "training" not in out


def test_nothing_asked_for_is_a_question_for_help(capsys):
    assert main([]) == 0
    assert "predict" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("error", "code", "line"),
    [
        (KeyboardInterrupt(), 130, "Interrupted."),
        (typer.Abort(), 130, "Interrupted."),
        (Stopped(2), 130, "Interrupted."),
        (Stopped(15), 143, "Terminated."),
        (Stopped(1), 129, "Terminated."),
        (MemoryError(), 2, "Error: Expected enough memory, got too little."),
        (RuntimeError("DefaultCPUAllocator: can't allocate memory"), 2, "Error: Expected enough"),
        (OSError(28, "No space left on device"), 2, "Error: Expected to be able to read"),
    ],
)
def test_what_ends_a_command_is_one_line(capsys, monkeypatch, error, code, line):
    def fail(*arguments, **options):
        raise error

    monkeypatch.setattr(module, "app", fail)
    assert main(["list", "datasets"]) == code
    assert capsys.readouterr().err.startswith(line)


def test_a_fault_of_ours_shows_its_traceback(capsys, monkeypatch):
    def fail(*arguments, **options):
        raise ZeroDivisionError

    monkeypatch.setattr(module, "app", fail)
    assert main(["list"]) == 1
    assert "Traceback" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("python_words", "command_line"),
    [
        ("or encode with unknown='ignore'.", "or encode with --unknown ignore."),
        ("group_weights='share' may help.", "--group-weights share may help."),
        ("parity='both' penalises the gaps.", "--parity both penalises the gaps."),
        ("A larger parity_weight penalises.", "A larger --parity-weight penalises."),
        ("got parity_weight=-1.0.", "got parity_weight=-1.0."),
        ("Expected positive to be named.", "Expected --positive to be named."),
        ("method='auto'", "method='auto'"),
    ],
)
def test_advice_speaks_of_options(python_words, command_line):
    assert for_the_command_line(python_words) == command_line


def test_a_closed_pipe_prints_nothing():
    program = "from fairsmooth.cli.main import run; run()"
    with subprocess.Popen(
        [sys.executable, "-c", program, "list", "datasets"],
        env={**os.environ, "PYTHONPATH": SOURCE},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode in (0, 1)
