"""Make the tables of README and docs from results and declarations, so that none is typed."""

import re

from filling import guarantees, methods, reproduction, speed, tradeoff
from filling.markdown import ROOT, Blocks

PAGES = (ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md")))
BLOCKS: Blocks = {
    **tradeoff.BLOCKS,
    **speed.BLOCKS,
    **reproduction.BLOCKS,
    **methods.BLOCKS,
    **guarantees.BLOCKS,
}


def filled(text: str) -> str:
    """Return a page with every marked block made anew."""

    def block(match: re.Match[str]) -> str:
        name = match["name"]
        return f"<!-- table: {name} -->\n{BLOCKS[name]()}\n<!-- end -->"

    pattern = r"<!-- table: (?P<name>[\w-]+) -->\n.*?<!-- end -->"
    return re.sub(pattern, block, text, flags=re.DOTALL)


if __name__ == "__main__":
    for page in PAGES:
        page.write_text(filled(page.read_text(encoding="utf-8")), encoding="utf-8")
