"""Colours and style that all pictures share."""

from typing import Any

# Dark enough to read on white, and apart for readers who do not see red and green apart.
COLOURS = ("#2b5d8a", "#c46a1b", "#4b8b6f", "#8a4f7d", "#6b6b6b", "#a8852c")
STYLE: Any = {
    "font.size": 10,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.edgecolor": "#888888",
    "svg.fonttype": "none",
    "svg.hashsalt": "fairsmooth",
}
