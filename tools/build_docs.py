"""Render README and docs as HTML pages into out/docs; they are Markdown, readable as they are."""

import html
import re
import shutil
from pathlib import Path

from markdown_it import MarkdownIt

ROOT = Path(__file__).parents[1]
STYLE = """
body { font: 16px/1.55 system-ui, sans-serif; color: #222; max-width: 58rem; }
body { margin: 2rem auto; padding: 0 1.2rem; }
pre { background: #f4f6f8; padding: .8rem 1rem; border-radius: .4rem; overflow-x: auto; }
code { font-size: .92em; } table { border-collapse: collapse; display: block; overflow-x: auto; }
th, td { border-bottom: 1px solid #ddd; padding: .35rem .7rem; }
th, td { text-align: left; vertical-align: top; }
img { max-width: 100%; } nav { color: #666; margin-bottom: 1.5rem; }
"""


def render(source: Path, target: Path, home: str) -> None:
    text = source.read_text(encoding="utf-8")
    title = next((line.lstrip("# ") for line in text.splitlines() if line.startswith("#")), "")
    body = MarkdownIt("commonmark").enable("table").render(text)
    body = re.sub(r'(href="[^":]+?)\.md(#[^"]*)?"', r'\1.html\2"', body)
    page = (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        f"<title>{html.escape(title)}</title><style>{STYLE}</style></head>"
        f'<body><nav><a href="{home}">FairSmooth</a></nav>{body}</body></html>'
    )
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(page, encoding="utf-8")


def main() -> None:
    out = ROOT / "out" / "docs"
    shutil.rmtree(out, ignore_errors=True)
    render(ROOT / "README.md", out / "README.html", "README.html")
    for source in sorted((ROOT / "docs").rglob("*.md")):
        relative = source.relative_to(ROOT)
        depth = len(relative.parts) - 1
        render(source, out / relative.with_suffix(".html"), "../" * depth + "README.html")
    shutil.copytree(ROOT / "docs" / "images", out / "docs" / "images", dirs_exist_ok=True)
    print(f"Wrote {len(list(out.rglob('*.html')))} pages to {out.relative_to(ROOT)}.")


if __name__ == "__main__":
    main()
