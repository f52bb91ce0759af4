"""People who apply for work, and commands run on tables of them."""

import numpy as np
import pandas as pd

from fairsmooth.cli.main import main

ROLES = ["--label", "hired", "--positive", "yes", "--sensitive", "sex"]
COLUMN = ["--scores", "score", *ROLES]


def people(n, seed, *, apart=0.2, first_id=0):
    """Draw people whose groups are ``apart`` standard deviations apart."""
    rng = np.random.default_rng(seed)
    sex = rng.choice(["f", "m"], n)
    years = rng.normal(10, 4, n) + 4 * apart * (sex == "m")
    hired = np.where(years + rng.normal(0, 4, n) > 10, "yes", "no")
    score = 1 / (1 + np.exp(-(years - 10) / 4))
    return pd.DataFrame(
        {
            "id": np.arange(first_id, first_id + n),
            "years": years.round(2),
            "sex": sex,
            "hired": hired,
            "score": score.round(4),
        }
    )


def run(capsys, *arguments):
    code = main([str(argument) for argument in arguments])
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def mistake(capsys, *arguments):
    """Run what must be refused: exit code 2, and one line that says why."""
    code, out, err = run(capsys, *arguments)
    assert (code, out) == (2, "")
    assert "Traceback" not in err
    return err.strip().splitlines()[-1]
