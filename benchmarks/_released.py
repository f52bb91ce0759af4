"""What the authors of FairBatch and FRS released beside their code: rows and printed results.

Every section of a notebook trains with seeds 0, 1, ... and prints accuracy and gap on the test
rows, the gap being how far a group's rate is from everyone's.
"""

import json
import re
from pathlib import Path

import numpy as np
import pandas as pd

from fairsmooth.datasets import FairDataset

# Their training labels: as drawn, and with a tenth of them flipped.
LABELS = {
    "released": "y_train",
    "released-general": "y_noise_general",
    "released-targeted": "y_noise_grouptarget",
}

# The notebook of a case, and the notions of its sections in their order.
SECTIONS = {
    "released": (
        "FairBatch_Synthetic.ipynb",
        ("equal_opportunity", "equalized_odds", "demographic_parity"),
    ),
    "released-general": (
        "FairRobust_synthetic_label_flipping.ipynb",
        ("equalized_odds", "demographic_parity"),
    ),
    "released-targeted": (
        "FairRobust_synthetic_grouptargeted_label_flipping.ipynb",
        ("equalized_odds", "demographic_parity"),
    ),
}
RESULT = re.compile(r"Test accuracy: ([\d.]+), \w+ disparity: ([\d.]+)")


def printed(checkout: Path, case: str, notion: str) -> list[dict[str, float]]:
    """Return accuracy and gap of every seed of a section."""
    file, notions = SECTIONS[case]
    cells = json.loads((checkout / file).read_text(encoding="utf-8"))["cells"]
    texts = [
        "".join("".join(output.get("text", ())) for output in cell.get("outputs", ()))
        for cell in cells
    ]
    sections = [found for found in map(RESULT.findall, texts) if found]
    section = sections[notions.index(notion)]
    return [{"accuracy": float(first), "from_pooled": float(last)} for first, last in section]


def rows(checkout: Path, case: str) -> tuple[FairDataset, FairDataset]:
    """Read their training rows, with the labels of a case, and their test rows."""

    def part(name: str, labels: str) -> FairDataset:
        X, y, z = (
            np.load(checkout / "synthetic_data" / f"{file}.npy")
            for file in (f"xz_{name}", labels, f"z_{name}")
        )
        return FairDataset(
            pd.DataFrame(X.astype(np.float64)),
            (y > 0).astype(np.int64),
            pd.Series(z.astype(np.int64), name="z"),
            name="released",
            description="The authors' synthetic rows.",
            label="1",
        )

    return part("train", LABELS[case]), part("test", "y_test")
