"""The script that draws the charts, for the page to hold: no page loads anything."""

from functools import cache
from importlib.util import find_spec

EXTRA = "Interactive charts need `pip install fairsmooth[report]`; the ones on this page are still."


def available() -> bool:
    """Tell whether the extra ``report`` is installed."""
    return all(find_spec(name) is not None for name in ("altair", "vl_convert"))


@cache
def bundle() -> str:
    """Return Vega, Vega-Lite and Vega-Embed as one script without imports."""
    import vl_convert

    script: str = vl_convert.javascript_bundle("window.vegaEmbed=vegaEmbed;")
    # Inside an element nothing may look like its end.
    return script.replace("</script", "<\\/script").replace("<!--", "<\\!--")
