"""Draw who imports whom, room by room, into docs/images/rooms.svg; the code is read, not run."""

import ast
from collections import Counter
from pathlib import Path

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import FancyArrowPatch, FancyBboxPatch

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "fairsmooth"
TARGET = ROOT / "docs" / "images" / "rooms.svg"
# At the root of the package, for everyone: drawn, these would only hide the rest.
FOUNDATION = {
    "exceptions",
    "_types",
    "_validate",
    "_random",
    "_registry",
    "_atomic",
    "_palette",
    "__init__",
}
APART = "verify"
STYLE = {"font.size": 10, "svg.fonttype": "none", "svg.hashsalt": "fairsmooth"}
BOX_WIDTH, BOX_HEIGHT, STEP = 9.2, 0.74, 1.0
NEEDED, IMPLIED, FILL, EDGE, EDGE_APART = "#2b5d8a", "#b3c0cc", "#f4f6f8", "#777777", "#c46a1b"


def layers() -> list[list[str]]:
    """Return the layers that CONTRIBUTING lists, with the rooms that exist."""
    guide = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    block = "".join(line for line in guide.splitlines() if line.startswith("    "))
    named = [[room.strip() for room in layer.split(",")] for layer in block.split("←")]
    existing = {room_of(path) for path in PACKAGE.rglob("*.py")}
    found = [[room for room in layer if room in existing] for layer in named]
    return [layer for layer in found if layer]


def room_of(path: Path) -> str:
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def imports() -> Counter[tuple[str, str]]:
    """Count, for every pair of rooms, the files of the first that import the second."""
    found: Counter[tuple[str, str]] = Counter()
    for path in sorted(PACKAGE.rglob("*.py")):
        owner = room_of(path)
        others = set()
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("fairsmooth"):
                parts = (node.module or "").split(".")
                others |= {parts[1]} if len(parts) > 1 else {alias.name for alias in node.names}
        found.update((owner, other) for other in others - {owner})
    return found


def summary(room: str) -> str:
    """Return the first line of a room's docstring, without its full stop."""
    file = PACKAGE / room / "__init__.py"
    file = file if file.exists() else PACKAGE / f"{room}.py"
    text = ast.get_docstring(ast.parse(file.read_text(encoding="utf-8"))) or ""
    return text.splitlines()[0].rstrip(".").replace("``", "") if text else ""


def implied(pair: tuple[str, str], pairs: set[tuple[str, str]]) -> bool:
    """Whether the first room reaches the second through another one as well."""
    owner, target = pair
    seen, waiting = set(), [other for start, other in pairs if start == owner and other != target]
    while waiting:
        room = waiting.pop()
        if room == target:
            return True
        if room not in seen:
            seen.add(room)
            waiting += [other for start, other in pairs if start == room]
    return False


def draw() -> Figure:
    """Draw the rooms from what users call down to the core, and arrows on both sides of them."""
    rooms = [APART, *(room for layer in reversed(layers()) for room in layer)]
    heights = {room: -STEP * place for place, room in enumerate(rooms)}
    counts = {pair: n for pair, n in imports().items() if set(pair) <= heights.keys()}
    lines = Counter[str]()
    for path in PACKAGE.rglob("*.py"):
        lines[room_of(path)] += len(path.read_text(encoding="utf-8").splitlines())
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(11.0, 0.56 * len(rooms) + 0.6), layout="constrained")
        axes = figure.subplots()
        for pair, count in sorted(counts.items()):
            ends = heights[pair[0]], heights[pair[1]]
            arrow(axes, ends, count, needed=not implied(pair, set(counts)))
        for room, y in heights.items():
            box(axes, room, lines[room], y)
        axes.set_xlim(-BOX_WIDTH / 2 - 3.0, BOX_WIDTH / 2 + 2.0)
        axes.set_ylim(-STEP * len(rooms) + 0.4, 0.9)
        words = {"fontsize": 7.5, "va": "bottom"}
        axes.text(
            -BOX_WIDTH / 2 - 0.1,
            0.5,
            "imports that another implies",
            color="#8595a3",
            ha="right",
            **words,
        )
        axes.text(BOX_WIDTH / 2 + 0.1, 0.5, "imports", color=NEEDED, **words)
        axes.axis("off")
    return figure


def arrow(axes: Axes, ends: tuple[float, float], count: int, *, needed: bool) -> None:
    """Draw one arrow beside the boxes, the wider the longer its way."""
    side = 1.0 if needed else -1.0
    x = side * (BOX_WIDTH / 2 + 0.04)
    start, end = ends
    # A little above and below the middle, so that those who come do not hide those who go.
    shift = 0.12 if start > end else -0.12
    bend = 0.42 if abs(start - end) > 1.5 else 0.9
    axes.add_patch(
        FancyArrowPatch(
            (x, start - shift),
            (x, end + shift),
            connectionstyle=f"arc3,rad={-side * bend if start > end else side * bend}",
            arrowstyle="-|>",
            mutation_scale=8,
            linewidth=0.6 + 0.35 * count**0.5,
            color=NEEDED if needed else IMPLIED,
            shrinkA=0,
            shrinkB=0,
            zorder=2 if needed else 1,
        )
    )


def box(axes: Axes, room: str, n_lines: int, y: float) -> None:
    """Draw one room: its name, what it is for, how long it is."""
    left = -BOX_WIDTH / 2
    axes.add_patch(
        FancyBboxPatch(
            (left, y - BOX_HEIGHT / 2),
            BOX_WIDTH,
            BOX_HEIGHT,
            boxstyle="round,pad=0,rounding_size=0.12",
            facecolor=FILL,
            edgecolor=EDGE_APART if room == APART else EDGE,
            zorder=3,
        )
    )
    count = f"{n_lines:,} lines"
    axes.text(left + 0.15, y + 0.11, room, va="center", fontsize=9, weight="bold", zorder=4)
    axes.text(left + 0.15, y - 0.19, count, va="center", fontsize=6, color="#777777", zorder=4)
    axes.text(left + 1.8, y, summary(room), va="center", fontsize=7.5, zorder=4)


if __name__ == "__main__":
    drawn = draw()
    TARGET.parent.mkdir(parents=True, exist_ok=True)
    with mpl.rc_context(STYLE):
        drawn.savefig(TARGET, metadata={"Date": None})
    print(f"Wrote {TARGET.relative_to(ROOT)}.")
