"""The metadata block on top of a model card, as model hubs read it: plain YAML, nothing clever."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

_ESCAPES = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\t": "\\t", "\r": "\\r"}


def front_matter(metadata: Mapping[str, Any]) -> str:
    r"""Return a mapping of mappings, sequences, texts and numbers between two ``---`` lines.

    Every text is quoted and whatever could end it is escaped, so that a text comes back as it
    was and can never become another key.

    Examples
    --------
    >>> print(front_matter({"tags": ["fairness", "no: \n key"], "value": 0.25}))
    ---
    tags:
    - "fairness"
    - "no: \n key"
    value: 0.25
    ---
    """
    return "\n".join(["---", *_lines(metadata), "---"])


def _lines(value: Any) -> Iterator[str]:
    """Yield the lines of a mapping or sequence; those of what is inside stand deeper."""
    named = isinstance(value, Mapping)
    for name, inner in value.items() if named else enumerate(value):
        start = f"{name}:" if named else "-"
        if not _nested(inner):
            yield f"{start} {_scalar(inner)}"
            continue
        deeper = [f"  {line}" for line in _lines(inner)]
        if named:
            yield start
            yield from (line[2:] if _is_list(inner) else line for line in deeper)
        else:
            yield f"- {deeper[0].lstrip()}"
            yield from deeper[1:]


def _nested(value: Any) -> bool:
    return bool(value) and (isinstance(value, Mapping) or _is_list(value))


def _is_list(value: Any) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, str)


def _scalar(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        # YAML reads 1e-05 as a text.
        return f"{value:.10f}".rstrip("0").rstrip(".") if isinstance(value, float) else str(value)
    return f'"{"".join(map(_escaped, str(value)))}"'


def _escaped(character: str) -> str:
    if character in _ESCAPES:
        return _ESCAPES[character]
    if character.isprintable():
        return character
    code = ord(character)
    if 0xD800 <= code <= 0xDFFF:  # half a character stands for nothing, and YAML refuses it
        return "\\uFFFD"
    return f"\\u{code:04X}" if code < 0x10000 else f"\\U{code:08X}"
