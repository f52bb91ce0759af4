"""README stays short, and its ten lines of Python run."""

import re
from pathlib import Path

import numpy as np
import pandas as pd

TEXT = (Path(__file__).parents[3] / "README.md").read_text(encoding="utf-8")


def credit(n, seed):
    rng = np.random.default_rng(seed)
    sex = rng.choice(["f", "m"], n)
    income = rng.normal(3.0, 1.0, n).round(2)
    risk = np.where(income + rng.normal(0.0, 1.0, n) > 3.0, "good", "bad")
    return pd.DataFrame({"id": np.arange(n), "sex": sex, "income": income, "risk": risk})


def test_the_python_runs(tmp_path, monkeypatch, capsys):
    (code,) = re.findall(r"```python\n(.*?)```", TEXT, flags=re.DOTALL)
    assert len(code.strip().splitlines()) <= 10
    monkeypatch.chdir(tmp_path)
    credit(6000, 0).to_csv("credit.csv", index=False)
    credit(20, 1).drop(columns=["risk", "sex"]).to_csv("new.csv", index=False)
    exec(compile(code, "README.md", "exec"), {})
    assert "Gap guarantee: HOLDS." in capsys.readouterr().out
    assert Path("credit.safetensors").is_file()


def test_it_fits_on_two_screens():
    assert len(TEXT.splitlines()) <= 110
