"""A browser for the session, and the pages that are looked at.

The browser is Debian's ``chromium``; ``FAIRSMOOTH_BROWSER`` may name another one's path. Without a
browser these tests are skipped, unless ``FAIRSMOOTH_BROWSER=required``.
"""

import os
import shutil
from dataclasses import dataclass

import numpy as np
import pandas as pd
import pytest

from fairsmooth import FairSmoothClassifier, guarantee_gaps
from fairsmooth.guarantees import GapGuarantee
from fairsmooth.metrics import Audit, audit
from fairsmooth.reporting.report import PLAIN, render_report
from fairsmooth.reporting.subject import Subject

WANTED = os.environ.get("FAIRSMOOTH_BROWSER", "")
# What a table may hold to break out of a page.
WICKED = "</script><script>window.broken=1</script>"


def browser_path():
    if WANTED and WANTED != "required":
        return WANTED
    return shutil.which("chromium") or shutil.which("chromium-browser")


@pytest.fixture(scope="session")
def browser():
    path = browser_path()
    if path is None:
        reason = "There is no browser: install chromium, or name one in FAIRSMOOTH_BROWSER."
        if WANTED == "required":
            pytest.fail(reason)
        pytest.skip(reason)
    playwright = pytest.importorskip("playwright.sync_api")
    with playwright.sync_playwright() as running:
        # Inside a container there is no user namespace for the sandbox.
        found = running.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield found
        found.close()


@dataclass(frozen=True)
class Example:
    """A page with the objects that it was made from."""

    name: str
    path: str
    audit: Audit
    guarantee: GapGuarantee
    scores: np.ndarray
    y: np.ndarray
    groups: pd.DataFrame


def _rows(names, n_rows, columns):
    random = np.random.default_rng(len(names))
    codes = random.integers(0, len(names), n_rows)
    scores = np.round(random.beta(1.0 + codes / len(names), 2.0), 6)
    y = (random.random(n_rows) < scores).astype(int)
    groups = pd.DataFrame([names[code] for code in codes], columns=columns)
    return scores, y, groups


def _example(folder, name, names, columns, n_rows, limits):
    scores, y, groups = _rows(names, n_rows, columns)
    given = {"sensitive_features": groups}
    found = audit(y_true=y, y_score=scores, threshold=0.45, **given)
    proved = guarantee_gaps((scores > 0.45).astype(int), limits=limits, **given)
    plain = audit(y_true=y, y_score=np.clip(scores + 0.1, 0, 1), **given)
    about = Subject(column="score", sensitive=columns, rows="safety rows", date="2026-01-01")
    page = render_report(name, None, found, subject=about, guarantee=proved, beside={PLAIN: plain})
    path = folder / f"{len(names)}.html"
    path.write_text(page, encoding="utf-8")
    return Example(name, path.as_uri(), found, proved, scores, y, groups)


@pytest.fixture(scope="session")
def two_groups(tmp_path_factory):
    """K = 2, by a certified model: every chart there is."""
    folder = tmp_path_factory.mktemp("two")
    names = [("women",), (WICKED,)]
    scores, y, groups = _rows(names, 1500, ["sex"])
    random = np.random.default_rng(0)
    X = np.column_stack([scores, random.normal(size=(len(y), 2))])
    clf = FairSmoothClassifier(random_state=0).fit(X, y, sensitive_features=groups)
    found = audit(clf, X, y, sensitive_features=groups, shift=True)
    limits = {"demographic_parity": 0.4, "equalized_odds_sum": 0.9}
    decided = clf.predict(X)
    given = {"sensitive_features": groups, "limits": limits}
    proved = guarantee_gaps(decided, y_true=y, **given)
    about = Subject(rows="held-out rows", date="2026-01-01", checks=())
    page = render_report(
        WICKED, clf.certificate_, found, subject=about, guarantee=proved, history=clf.history_
    )
    path = folder / "two.html"
    path.write_text(page, encoding="utf-8")
    scored = clf.predict_proba(X)[:, 1]
    return Example("two", path.as_uri(), found, proved, scored, y, groups)


@pytest.fixture(scope="session")
def eight_groups(tmp_path_factory):
    """K = 8, intersectional, with names that are long and one group of few people."""
    first = ("women", "men")
    second = (
        "of one origin",
        "of a second, whose name is rather long & has <b>marks</b>",
        "c",
        "d",
    )
    names = [(a, b) for a in first for b in second]
    limits = {"demographic_parity": 0.6, "impact_ratio": 0.2}
    folder = tmp_path_factory.mktemp("eight")
    return _example(folder, "Eight groups", names, ["sex", "origin"], 1200, limits)


@pytest.fixture(scope="session")
def thirty_groups(tmp_path_factory):
    names = [(f"group {number}",) for number in range(30)]
    folder, limits = tmp_path_factory.mktemp("thirty"), {"demographic_parity": 0.9}
    return _example(folder, "Thirty groups", names, ["who"], 3000, limits)


@pytest.fixture(params=["two_groups", "eight_groups", "thirty_groups"])
def example(request):
    return request.getfixturevalue(request.param)


class Watched:
    """A page that remembers what it asked for and what went wrong."""

    def __init__(self, page):
        self.page, self.problems, self.requests = page, [], []
        page.on("console", lambda message: self._said(message))
        page.on("pageerror", lambda error: self.problems.append(str(error)))
        page.on("request", lambda request: self.requests.append(request.url))

    def _said(self, message):
        if message.type in ("error", "warning"):
            self.problems.append(message.text)

    def open(self, path):
        self.page.goto(path)
        self.page.wait_for_function("document.documentElement.dataset.ready === 'yes'")
        return self


@pytest.fixture
def visit(browser):
    """Open a page at a width, in light or dark."""
    opened = []

    def visited(path, *, width=1200, scheme="light"):
        view = {"width": width, "height": 900}
        context = browser.new_context(viewport=view, color_scheme=scheme)
        opened.append(context)
        return Watched(context.new_page()).open(path)

    yield visited
    for context in opened:
        context.close()
