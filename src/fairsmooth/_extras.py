"""What is not in the small installation: which extra brings which package.

``pip install fairsmooth`` verifies, certifies, guarantees, monitors, audits given scores and
predicts with linear models. Whatever else is asked for says which extra it needs.
"""

from functools import cache
from importlib import import_module

from fairsmooth.exceptions import MissingExtra

# The extra of every package that is imported beyond the base.
EXTRAS = {
    "altair": "report",
    "dask": "cluster",
    "distributed": "cluster",
    "fairlearn": "compare",
    "jinja2": "report",
    "joblib": "train",
    "lightgbm": "forecasts",
    "markupsafe": "report",
    "matplotlib": "train",
    "onnx": "onnx",
    "onnxruntime": "onnx",
    "openpyxl": "excel",
    "optuna": "tune",
    "sklearn": "train",
    "threadpoolctl": "train",
    "torch": "train",
    "vl_convert": "report",
    "yaml": "report",
}


def needs(extra: str, what: str = "This") -> MissingExtra:
    """Return the one line that says what to install."""
    return MissingExtra(f"{what} needs fairsmooth[{extra}]: pip install 'fairsmooth[{extra}]'.")


def missing_extra(error: ImportError) -> MissingExtra | None:
    """Return that line for a package of an extra that could not be imported, or None."""
    package = (error.name or "").partition(".")[0]
    return needs(EXTRAS[package]) if package in EXTRAS else None


@cache
def installed(package: str) -> bool:
    """Tell whether a package can be imported, by importing it."""
    try:
        import_module(package)
    except ImportError:
        return False
    return True
