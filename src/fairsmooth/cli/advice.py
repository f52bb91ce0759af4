"""Advice in the words of the command line: options instead of Python arguments."""

import re

# Only what is an option of some command that can say it.
_OPTIONS = {
    "unknown": "--unknown",
    "group_weights": "--group-weights",
    "parity": "--parity",
    "columns": "--columns",
}
# Sentences of the data room that name an argument.
_WORDS = {
    "strict=True": "--strict",
    "Expected positive ": "Expected --positive ",
    "name it in ids": "name it with --id",
    "Increase max_iter or learning_rate": "Increase --max-iter",
    "Increase max_iter": "Increase --max-iter",
    ", or accept a larger tol": "",
    ", or lower learning_rate": "",
    "call load(path, module=...)": "use it in Python, with load(path, module=...)",
}
_ASSIGNMENT = re.compile(rf"(?<![\w.])({'|'.join(_OPTIONS)})='([^']*)'")


def for_the_command_line(message: str) -> str:
    """Spell advice such as ``unknown='ignore'`` as an option.

    Examples
    --------
    >>> for_the_command_line("Correct them, or encode with unknown='ignore'.")
    'Correct them, or encode with --unknown ignore.'
    """
    for python, option in _WORDS.items():
        message = message.replace(python, option)
    message = _ASSIGNMENT.sub(lambda found: f"{_OPTIONS[found[1]]} {found[2]}", message)
    return re.sub(r"\bparity_weight\b(?!=)", "--parity-weight", message)
