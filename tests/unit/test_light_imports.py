"""Reading and verifying a certificate must not wait for the libraries that train."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import fairsmooth

ROOT = Path(fairsmooth.__file__).parent
HEAVY = {"torch", "sklearn", "scipy", "pandas", "matplotlib", "optuna"}
LIGHT = ("verify", "core/certificate.py", "core/confirm.py", "core/labels.py", "core/outward.py")
LIGHT_READERS = ("contents", "description", "fields", "layout", "networks", "table", "versions")


def _at_the_top(path):
    """Names imported whenever the module is: not those inside functions."""
    for node in ast.parse(path.read_text()).body:
        if isinstance(node, ast.Import):
            yield from (alias.name.split(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module.split(".")[0]


def _modules():
    for place in (*LIGHT, *(f"persistence/{name}.py" for name in LIGHT_READERS)):
        path = ROOT / place
        yield from path.rglob("*.py") if path.is_dir() else [path]


@pytest.mark.parametrize("path", list(_modules()), ids=lambda path: str(path.relative_to(ROOT)))
def test_nothing_heavy_is_imported_at_the_top(path):
    assert not set(_at_the_top(path)) & HEAVY


def test_verify_and_read_a_certificate_without_them(tmp_path):
    """With the heavy libraries taken away, both still work on a file of a linear model."""
    model = ROOT.parents[1] / "tests" / "data" / "models_v1" / "linear-logistic.safetensors"
    code = f"""
import sys
for name in {sorted(HEAVY)!r}:
    sys.modules[name] = None
from fairsmooth.verify import verify
from fairsmooth.persistence import read_certificate
assert verify({str(model)!r}).holds
print(read_certificate({str(model)!r}))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "Fairness certificate, 2 groups" in done.stdout
