"""Advice in the words of the command line: options instead of Python arguments."""

import re

# Only what is an option of some command that can say it.
_OPTIONS = {
    "unknown": "--unknown",
    "group_weights": "--group-weights",
    "parity": "--parity",
    "columns": "--columns",
    "strict": "--strict",
}
_FLAGS = {"strict=True": "--strict"}
_ASSIGNMENT = re.compile(rf"(?<![\w.])({'|'.join(_OPTIONS)})='([^']*)'")


def for_the_command_line(message: str) -> str:
    """Spell advice such as ``unknown='ignore'`` as an option.

    Examples
    --------
    >>> for_the_command_line("Correct them, or encode with unknown='ignore'.")
    'Correct them, or encode with --unknown ignore.'
    """
    for python, option in _FLAGS.items():
        message = message.replace(python, option)
    message = _ASSIGNMENT.sub(lambda found: f"{_OPTIONS[found[1]]} {found[2]}", message)
    return re.sub(r"\bparity_weight\b(?!=)", "--parity-weight", message)
