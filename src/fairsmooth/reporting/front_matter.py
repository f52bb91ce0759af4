"""The metadata block on top of a model card, as model hubs read it: YAML between two lines."""

import math
from collections.abc import Mapping
from typing import Any

import yaml


class _Dumper(yaml.SafeDumper):  # type: ignore[misc]
    """Plain data only; a text with line breaks stays on one line, so it cannot end the block."""


def _represented(dumper: _Dumper, text: str) -> yaml.ScalarNode:
    # Half a character stands for nothing, and YAML refuses it.
    whole = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    style = None if whole.isprintable() else '"'
    return dumper.represent_scalar("tag:yaml.org,2002:str", whole, style=style)


_Dumper.add_representer(str, _represented)


def front_matter(metadata: Mapping[str, Any]) -> str:
    r"""Return a mapping of mappings, sequences, texts and numbers between two ``---`` lines.

    A text comes back as it was and can never become another key.

    Examples
    --------
    >>> print(front_matter({"tags": ["fairness", "no: \n key"], "value": 0.25}))
    ---
    tags:
    - fairness
    - "no: \n key"
    value: 0.25
    ---
    """
    options: dict[str, Any] = {"sort_keys": False, "allow_unicode": True, "width": math.inf}
    return f"---\n{yaml.dump(dict(metadata), Dumper=_Dumper, **options)}---"
