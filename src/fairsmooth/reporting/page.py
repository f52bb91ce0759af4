"""The one template environment, and what a page may hold: nothing that loads or runs unasked."""

import base64
import hashlib
import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from jinja2 import Environment, PackageLoader, select_autoescape
from markupsafe import Markup, escape


def render(
    template: str,
    context: Mapping[str, Any],
    filters: Mapping[str, Callable[[Any], str]] | None = None,
) -> str:
    """Fill a template of the package; text is escaped in HTML pages and left alone elsewhere."""
    environment = Environment(
        loader=PackageLoader("fairsmooth.reporting"),
        autoescape=select_autoescape(("html",)),
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update({"ticks": with_code, **(filters or {})})
    return environment.get_template(template).render(**context)


def source(template: str) -> str:
    """Return a file of the templates as it is."""
    loader = PackageLoader("fairsmooth.reporting")
    return loader.get_source(Environment(autoescape=True), template)[0]


def scripted(scripts: Sequence[str], data: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a page with scripts is filled with: these scripts run, and no others.

    The policy names them by their hash, so that nothing that a table's names might smuggle
    in would run, and forbids every request.
    """
    hashes = [base64.b64encode(hashlib.sha256(s.encode()).digest()).decode() for s in scripts]
    allowed = " ".join(f"'sha256-{digest}'" for digest in hashes) or "'none'"
    return {
        "policy": Markup(f"default-src 'none'; style-src 'unsafe-inline'; script-src {allowed}"),
        "scripts": [Markup(script) for script in scripts],
        "data": as_json(data),
    }


def as_json(data: Mapping[str, Any]) -> Markup:
    r"""Return JSON that an element can hold, whatever names are in it.

    Examples
    --------
    >>> print(as_json({"name": "</script>"}))
    {"name":"\u003c/script\u003e"}
    """
    text = json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    for letter in "<>&\u2028\u2029":
        text = text.replace(letter, f"\\u{ord(letter):04x}")
    return Markup(text)


def with_code(text: str) -> Markup:
    """Escape a sentence, and set what stands between backticks as code.

    Examples
    --------
    >>> print(with_code("run `fairsmooth verify` <now>"))
    run <code>fairsmooth verify</code> &lt;now&gt;
    """
    return Markup(re.sub(r"`([^`]+)`", r"<code>\1</code>", str(escape(text))))
