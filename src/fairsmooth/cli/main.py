"""Dispatch and exit codes: 0 done, 1 a check does not hold, 2 a user's mistake, one line each.

A command's module is imported when the command is called: asking for help, the version or
a completion should not wait for torch.
"""

import atexit
import os
import signal
import sys
import threading
import traceback
import warnings
from importlib import import_module
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

import fairsmooth
from fairsmooth._extras import missing_extra
from fairsmooth.cli.advice import for_the_command_line
from fairsmooth.exceptions import FairSmoothError

# The module of every command, and what the list of commands says about it.
COMMANDS = {
    "demo": ("demo", "Tell the story on embedded data; write a report."),
    "train": ("train", "Train, certify and audit a classifier on a table."),
    "predict": ("predict", "Score every row of a table, with certified intervals."),
    "audit": ("audit", "Measure accuracy and gaps on a table, beside the certificate."),
    "certificate": ("certificate", "Explain the certificate of a model in plain words."),
    "guarantee": ("guarantee", "Bound the gaps between groups, proved for finite samples."),
    "monitor": ("monitor", "Watch the gaps of a rule in use, batch by batch."),
    "verify": ("verify", "Verify a model's certificate from its weights."),
    "explain": ("explain", "Explain the decisions about rows of a table."),
    "export": ("export", "Write a model for other runtimes (ONNX)."),
    "card": ("card", "Write a model card with certificate and guarantee."),
    "tune": ("tune", "Search for parameters that keep the limits you set."),
    "reproduce": ("reproduce", "Run experiments of the paper, beside the printed numbers."),
    "list": ("listing", "List datasets, methods or experiments."),
}
_SETTINGS = {"help_option_names": ["-h", "--help"]}
_OUT_OF_MEMORY = "can't allocate memory"


class LazyGroup(TyperGroup):
    """Lists commands by what :data:`COMMANDS` says, and imports the one that is called."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Return the real command for a name that is known."""
        name, command, rest = super().resolve_command(ctx, args)
        return name, command and _load(str(name)), rest


app = typer.Typer(
    name="fairsmooth",
    cls=LazyGroup,
    help="Classifiers with an input-agnostic certificate of group fairness.",
    no_args_is_help=True,
    # Plain help: drawing boxes around it takes as long as everything else together.
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings=_SETTINGS,
)
for _name, (_module, _about) in COMMANDS.items():
    app.command(_name, help=_about)(lambda: None)


def _load(name: str) -> Any:
    module = import_module(f"fairsmooth.cli.{COMMANDS[name][0]}")
    alone = typer.Typer(rich_markup_mode=None, add_completion=False, context_settings=_SETTINGS)
    alone.command(name)(module.command)
    return typer.main.get_command(alone)


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


class Stopped(BaseException):
    """A signal asked us to end; whatever is open cleans up on the way out."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


def program() -> None:
    """Be the ``fairsmooth`` script: run the command line, and end the process."""
    try:
        run()
    except SystemExit as end:
        _leave(end)


def run() -> None:
    """Run the command line as the ``fairsmooth`` script does, up to the exit it ends with."""
    for name in ("SIGINT", "SIGTERM", "SIGHUP"):
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), _stop)
    sys.exit(main(sys.argv[1:]))


def _leave(end: SystemExit) -> None:
    """End the process with an exit code, without taking the interpreter down where Arrow was used.

    Arrow reads tables by threads of its own. One that still wants Python while the interpreter
    goes down aborts the process, rarely, and 134 takes the place of the exit code.
    """
    # Threads of Python's own, of pools and clusters, are ended by the interpreter alone.
    if "pyarrow" not in sys.modules or threading.active_count() > 1:
        raise end
    atexit._run_exitfuncs()
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except (OSError, ValueError, AttributeError):  # closed: the interpreter says what it says
        raise end from None
    os._exit(int(end.code or 0))


def _stop(number: int, frame: object) -> None:
    signal.signal(number, signal.SIG_DFL)  # a second one ends it at once
    raise Stopped(number)


def main(arguments: list[str]) -> int:
    """Run one command and return its exit code; a user's mistake is one line and 2."""
    # --debug may stand anywhere: users add it after the command that failed.
    debug = "--debug" in arguments
    arguments = [argument for argument in arguments if argument != "--debug"] or ["--help"]
    with warnings.catch_warnings():
        _warnings_in_one_line()
        try:
            code = app(arguments, prog_name="fairsmooth", standalone_mode=False)
        except Stopped as stopped:
            interrupted = stopped.number == signal.SIGINT
            _say("Interrupted." if interrupted else "Terminated.")
            return 128 + stopped.number
        except (KeyboardInterrupt, typer.Abort):
            _say("Interrupted.")
            return 130
        except BrokenPipeError:
            # Nobody reads on; do not let the interpreter trip over it again at its end.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return 0
        except Exception as error:
            return _report(error, debug=debug)
    return code if isinstance(code, int) else 0


def _report(error: Exception, *, debug: bool) -> int:
    message = _one_line(error)
    if message is None or debug:
        traceback.print_exc()
    if message is not None:
        _say(f"Error: {message}")
    return 1 if message is None else 2


def _one_line(error: Exception) -> str | None:
    """Return the message of a mistake that a user can mend, or None for one of ours."""
    if isinstance(error, ImportError):
        error = missing_extra(error) or error
    if isinstance(error, FairSmoothError):
        return " ".join(for_the_command_line(str(error)).split())
    if isinstance(error, MemoryError) or _OUT_OF_MEMORY in str(error):
        return "Expected enough memory, got too little. Use fewer rows, columns or hidden units."
    if isinstance(error, OSError):
        return f"Expected to be able to read and write, got: {error}."
    if hasattr(error, "format_message"):  # a usage error of the parser
        return " ".join(str(error.format_message()).split())
    return None


def _warnings_in_one_line() -> None:
    warnings.simplefilter("ignore")
    warnings.simplefilter("default", UserWarning)
    # Whoever stops a search knows that trials are lost.
    warnings.filterwarnings("ignore", message=".*still being processed by the workers")
    warnings.showwarning = lambda message, *rest, **named: _say(
        f"Warning: {' '.join(for_the_command_line(str(message)).split())}"
    )


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)
