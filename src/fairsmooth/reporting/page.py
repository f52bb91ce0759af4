"""The one template environment: every page is made by it, with one style and no script."""

from collections.abc import Callable, Mapping
from typing import Any

from jinja2 import Environment, PackageLoader, select_autoescape


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
    environment.filters.update(filters or {})
    return environment.get_template(template).render(**context)
