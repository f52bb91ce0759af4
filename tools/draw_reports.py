"""Photograph the report in a browser for the documentation.

Needs ``out/demo/report.html``, which ``make demo`` writes, and chromium.
"""

import shutil
from pathlib import Path

import pandas as pd
from playwright.sync_api import Browser, sync_playwright

from fairsmooth.datasets import entry, make_biased
from fairsmooth.estimator import FairSmoothClassifier
from fairsmooth.metrics import audit
from fairsmooth.reporting.report import render_report
from fairsmooth.reporting.subject import Subject

IMAGES = Path(__file__).parents[1] / "docs" / "images"
DEMO, OUT = Path("out/demo/report.html"), Path("out/reports")
ABOUT = Subject(rows="rows of an example", date="2026-01-01")


def eight_groups() -> str:
    data = make_biased(n_samples=8000, n_groups=8, random_state=3)
    groups = {"sensitive_features": [f"region {group}" for group in data.sensitive_features]}
    train, test = slice(0, 4000), slice(4000, None)
    part = {name: values[train] for name, values in groups.items()}
    model = FairSmoothClassifier(random_state=0).fit(data.X[train], data.y[train], **part)
    rest = {name: values[test] for name, values in groups.items()}
    found = audit(model, data.X[test], data.y[test], **rest)
    return render_report("Eight regions", model.certificate_, found, subject=ABOUT)


def intersections() -> str:
    """Take the labels of Adult as if they were decisions: what the data themselves do."""
    found = entry("adult")
    tables = {name: found.table(name) for name in ("sex", "race")}
    groups = pd.DataFrame({name: table[name].to_numpy() for name, table in tables.items()})
    decided = tables["sex"][found.label_column].astype(int)
    result = audit(y_pred=decided, sensitive_features=groups)
    about = Subject(column=found.label_column, sensitive=("sex", "race"), date="2026-01-01")
    return render_report("Adult, by sex and race: the labels", None, result, subject=about)


def photograph(browser: Browser, page: Path, name: str, *, width: int, height: int, dark: bool):
    scheme = "dark" if dark else "light"
    view = {"width": width, "height": height}
    context = browser.new_context(viewport=view, color_scheme=scheme)
    shown = context.new_page()
    shown.goto(page.resolve().as_uri())
    shown.wait_for_function("document.documentElement.dataset.ready === 'yes'")
    shown.screenshot(path=IMAGES / name)
    context.close()


def main() -> None:
    OUT.mkdir(parents=True, exist_ok=True)
    for name, text in (("eight", eight_groups()), ("adult", intersections())):
        (OUT / f"{name}.html").write_text(text, encoding="utf-8")
    with sync_playwright() as running:
        path = shutil.which("chromium")
        browser = running.chromium.launch(executable_path=path, args=["--no-sandbox"])
        photograph(browser, DEMO, "report_demo.png", width=1600, height=820, dark=True)
        eight = OUT / "eight.html"
        photograph(browser, eight, "report_eight_groups.png", width=1600, height=820, dark=False)
        phone = OUT / "adult.html"
        photograph(browser, phone, "report_phone.png", width=360, height=1100, dark=False)
        browser.close()


if __name__ == "__main__":
    main()
