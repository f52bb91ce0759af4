"""Links of all pages, without the network: pages, files and headings exist, addresses have form.

Whether an address answers is for ``make links``, which needs the network.
"""

import re
from functools import cache
from itertools import pairwise
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
from markdown_it import MarkdownIt

ROOT = Path(__file__).parents[3]
FOLDERS = (ROOT, ROOT / "docs", ROOT / "docs" / "baselines", ROOT / "results" / "reproduce")
PAGES = [page for folder in FOLDERS for page in sorted(folder.glob("*.md"))]
PARSER = MarkdownIt("commonmark").enable("table")
ROLE = re.compile(r"\{doc\}`(?:[^`<]*<)?([^`>]+)>?`")
# Made when the site is built, from files whose names the gallery's tests know.
GENERATED = ("gallery/",)


def tokens(text):
    for block in PARSER.parse(text):
        yield block
        yield from block.children or ()


def links(text):
    """Yield every address that a page links to or shows a picture from, also in HTML."""
    for token in tokens(text):
        yield from (token.attrs[name] for name in ("href", "src") if name in token.attrs)
        if token.type in ("html_inline", "html_block"):
            yield from re.findall(r"(?:href|src)=\"([^\"]*)\"", token.content)


def slug(title):
    """Return a heading's anchor, as GitHub and MyST spell it."""
    return re.sub(r"[^\w\- ]", "", title.strip().lower()).replace(" ", "-")


@cache
def anchors(page):
    found, parsed = set(), list(tokens(page.read_text(encoding="utf-8")))
    for before, inline in pairwise(parsed):
        if before.type == "heading_open":
            parts = (part.content for part in inline.children if part.type != "image")
            name = slug("".join(parts))
            again = sum(other == name or other.startswith(f"{name}-") for other in found)
            found.add(f"{name}-{again}" if name in found else name)
    return found


def fault(page, link):
    """Return what is wrong with a link of a page, or nothing."""
    parts = urlsplit(link)
    if parts.scheme:
        well = parts.scheme in ("https", "http") and re.fullmatch(r"[\w.-]+\.\w+", parts.netloc)
        return None if well or parts.scheme == "mailto" else "no address"
    target = (page.parent / unquote(parts.path)).resolve() if parts.path else page
    if not target.exists():
        return "leads nowhere"
    if ROOT not in target.parents:
        return "leaves the repository"
    anchor = unquote(parts.fragment)
    if anchor and target.suffix == ".md" and anchor not in anchors(target):
        return "names no heading"
    return None


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_link_leads_somewhere(page):
    text = page.read_text(encoding="utf-8")
    dead = {link: fault(page, link) for link in links(text)}
    assert {link: what for link, what in dead.items() if what} == {}
    for name in ROLE.findall(text):
        assert name.startswith(GENERATED) or (page.parent / f"{name}.md").exists(), name


def test_there_are_links_and_anchors_to_check():
    found = [link for page in PAGES for link in links(page.read_text(encoding="utf-8"))]
    assert len(found) > 100
    assert any("#" in link and "://" not in link for link in found)


@pytest.mark.parametrize(
    ("link", "what"),
    [
        ("docs/none.md", "leads nowhere"),
        ("docs/audit.md#none", "names no heading"),
        ("#none", "names no heading"),
        ("../elsewhere", "leads nowhere"),
        ("..", "leaves the repository"),
        ("https://", "no address"),
        ("https:/example.org", "no address"),
        ("ftp://example.org", "no address"),
        ("docs/audit.md#a-gate-for-a-build", None),
        ("docs/audit.md", None),
        ("https://example.org/a?b#c", None),
    ],
)
def test_a_dead_link_is_found(link, what):
    assert fault(ROOT / "README.md", link) == what


def test_links_in_pictures_tables_and_html_are_seen():
    page = '![a](b.png)\n\n| x |\n|---|\n| [c](d.md) |\n\n<img src="e.svg">\n\n[f]: g.md\n[f]\n'
    assert list(links(page)) == ["b.png", "d.md", "e.svg", "g.md"]
