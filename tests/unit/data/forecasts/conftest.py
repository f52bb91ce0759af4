import numpy as np
import pandas as pd
import pytest


def draw(n, seed=0):
    """Rows whose label and group depend on their columns; columns of every kind."""
    random = np.random.default_rng(seed)
    table = pd.DataFrame(
        {
            "age": random.integers(18, 80, n),
            "job": random.choice(["clerk", "nurse", "smith", "cook"], n, p=[0.5, 0.3, 0.15, 0.05]),
            "score": np.where(random.random(n) < 0.1, np.nan, random.normal(size=n)),
        }
    )
    tilt = (table["job"] == "nurse").to_numpy()
    group = np.where(random.random(n) < 0.2 + 0.6 * tilt, "f", "m")
    y = (random.random(n) < 0.2 + 0.5 * (table["age"] > 45).to_numpy()).astype(int)
    return table, y, group


@pytest.fixture(scope="session")
def rows():
    return draw(600)
