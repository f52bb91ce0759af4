"""Dispatch and exit codes: 0 done, 1 a check does not hold, 2 a user's mistake, one line each."""

import sys
import traceback
from typing import Annotated

import typer

import fairsmooth
from fairsmooth.cli import (
    audit,
    certificate,
    demo,
    listing,
    predict,
    reproduce,
    train,
    tune,
    verify,
)
from fairsmooth.cli.output import messages
from fairsmooth.exceptions import FairSmoothError

app = typer.Typer(
    name="fairsmooth",
    help="Classifiers with an input-agnostic certificate of group fairness.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
for command in (demo, train, predict, audit, certificate, verify, tune, reproduce, listing):
    app.command(command.NAME)(command.command)


def _version(wanted: bool) -> None:
    if wanted:
        print(f"fairsmooth {fairsmooth.__version__}")
        raise typer.Exit


@app.callback()
def options(
    debug: Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")] = False,
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Hold the options of every command; ``--debug`` is read in :func:`run`."""


def run() -> None:
    """Run the command line as the ``fairsmooth`` script does."""
    sys.exit(main(sys.argv[1:]))


def main(arguments: list[str]) -> int:
    """Run one command and return its exit code; a user's mistake is one line and 2."""
    # --debug may stand anywhere: users add it after the command that failed.
    debug = "--debug" in arguments
    arguments = [argument for argument in arguments if argument != "--debug"]
    try:
        code = app(arguments, standalone_mode=False)
    except KeyboardInterrupt:
        messages.print("Interrupted.")
        return 130
    except BrokenPipeError:
        return 0
    except Exception as error:
        message = _one_line(error)
        if message is None or debug:
            traceback.print_exc()
        if message is not None:
            messages.print(f"Error: {message}", markup=False, soft_wrap=True)
        return 1 if message is None else 2
    return code if isinstance(code, int) else 0


def _one_line(error: Exception) -> str | None:
    """Return the message of a mistake that a user can mend, or None for one of ours."""
    if isinstance(error, FairSmoothError):
        return " ".join(str(error).split())
    if isinstance(error, OSError):
        return f"Expected to be able to read and write, got: {error}."
    if hasattr(error, "format_message"):  # a usage error of the parser
        return " ".join(str(error.format_message()).split())
    return None
