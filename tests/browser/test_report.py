"""The report in a real browser: what it loads, draws, computes, and who can read it."""

import re

import numpy as np
import pytest

from fairsmooth.core import contrasts
from fairsmooth.data.groups import encode_groups
from fairsmooth.metrics import audit
from fairsmooth.metrics.rates import gaps_of, group_rates_of
from fairsmooth.reporting.report import render_report
from fairsmooth.reporting.shift_grid import shift_grids
from fairsmooth.reporting.wording import group_names

MOVED = 37
MARKS = ".mark-symbol, .mark-rect, .mark-line, .mark-rule, .mark-area"


def _numbers(text):
    return [float(part) for part in re.findall(r"-?\d+(?:\.\d+)?", text)]


def _set(page, place, value):
    page.eval_on_selector(
        place,
        "(it, value) => { it.value = value; it.dispatchEvent(new Event('input')); }",
        str(value),
    )


def _changed(page, place, attribute, before):
    """Wait until a mark is drawn anew; fail if it is not."""
    page.wait_for_function(
        "([place, name, before]) => document.querySelector(place).getAttribute(name) !== before",
        arg=[place, attribute, before], timeout=5000,
    )  # fmt: skip


def test_nothing_is_asked_for_and_nothing_goes_wrong(visit, example):
    seen = visit(example.path)
    assert seen.requests == [example.path]
    assert seen.problems == []
    assert seen.page.evaluate("window.broken") is None


def test_every_chart_has_marks(visit, example):
    page = visit(example.path).page
    charts = page.evaluate(
        """marks => [...document.querySelectorAll('.chart')].map(it => [
             it.id, it.getAttribute('aria-label') || '', it.querySelectorAll(marks).length,
             it.querySelectorAll('.role-axis-title').length])""",
        f":is({MARKS}) > :is(path, rect, line)",
    )
    assert len(charts) >= 8
    for name, words, marks, titles in charts:
        assert (len(words) > 10, marks >= 2, titles >= 1) == (True, True, True), name


def test_nothing_overflows(visit, example):
    page = visit(example.path, width=360).page
    _fits(page, 360)
    for width in (800, 1600):
        page.set_viewport_size({"width": width, "height": 900})
        page.wait_for_timeout(200)
        _fits(page, width)


def _fits(page, width):
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    wide = page.evaluate(
        """width => [...document.querySelectorAll('main *')].filter(it =>
             !it.closest('.scroll, svg') && it.getBoundingClientRect().right > width + 1
           ).map(it => it.outerHTML.slice(0, 120))""",
        width,
    )
    assert wide == []


def _shown_rates(page):
    """Return the numbers of every row of the table; one evaluation, however many groups."""
    rows = page.evaluate(
        """() => [...document.querySelectorAll('#threshold-table tr')].map(row =>
             [...row.children].map(cell => cell.textContent))"""
    )
    return {name: [_numbers(text) for text in texts] for name, *texts in rows}


def _true_rates(example, threshold):
    """Return what the library measures at a threshold, group by group and between groups."""
    groups = encode_groups(example.groups, n_rows=len(example.y))
    decided = example.scores > threshold
    rates = group_rates_of(decided, example.y, groups)
    selected = rates["selection_rate"][:-1]
    columns = (
        selected, selected / selected.max(), rates["true_positive_rate"][:-1],
        rates["false_positive_rate"][:-1], 1.0 - rates["error_rate"][:-1],
    )  # fmt: skip
    names = group_names(groups.labels)
    by_group = dict(zip(names.values(), zip(*columns, strict=True), strict=True))
    between = {
        "gap": (gaps_of(rates)["demographic_parity"], 100),
        "ratio": (selected.min() / selected.max(), 1),
        "accuracy": (1.0 - rates["error_rate"][-1], 100),
    }
    return by_group, between


def _agrees(shown, value, unit):
    """A shown number agrees to the last digit; a shown range holds the truth."""
    if len(shown) == 1:
        return abs(shown[0] - unit * value) <= 0.5 * unit * 1e-4 + 0.5e-3 * (unit == 1) + 1e-9
    low, high = shown
    slack = 0.5e-2 if unit == 100 else 0.5e-3
    return low - slack <= unit * value <= high + slack


def test_the_threshold_explorer_agrees_with_the_library(visit, example):
    page = visit(example.path).page
    used = example.audit.score_counts.used
    assert sum(_exact_at(page, example, at) for at in (20, 70)) > 0
    # At the model's own threshold nearly everything is known.
    n_groups = len(example.audit.groups)
    assert _exact_at(page, example, used) >= (2 * n_groups if n_groups < 30 else 1)


def _exact_at(page, example, at):
    """Move the slider, compare all numbers with the library's, count those that are exact."""
    counts = example.audit.score_counts
    before = page.text_content("#threshold-table")
    _set(page, "#threshold", at)
    threshold = counts.thresholds[at]
    assert float(page.text_content("#threshold-value")) == pytest.approx(threshold, abs=1e-6)
    assert page.text_content("#threshold-table") != before
    true, between = _true_rates(example, threshold)
    shown = _shown_rates(page)
    assert next(iter(shown)) == page.text_content(".picture .name")
    exact = 0
    for name, values in true.items():
        for cell, value, unit in zip(shown[name], values, (100, 1, 100, 100, 100), strict=True):
            if cell:
                assert _agrees(cell, value, unit), (name, cell, value)
                exact += len(cell) == 1
    for place, (value, unit) in between.items():
        assert _agrees(_numbers(page.text_content(f"#threshold-{place}")), value, unit)
    return exact


def test_the_threshold_moves_the_chart_and_goes_back(visit, two_groups):
    page = visit(two_groups.path).page
    mark = "#chart-threshold .mark-symbol path"
    before, table = page.get_attribute(mark, "transform"), page.text_content("#threshold-table")
    page.focus("#threshold")
    for _ in range(MOVED):
        page.keyboard.press("ArrowRight")
    _changed(page, mark, "transform", before)
    moved = page.get_attribute(mark, "transform")
    assert page.text_content("#threshold-table") != table
    assert "voids the guarantee" in page.text_content("#threshold-explorer")
    page.click("#threshold-back")
    assert page.text_content("#threshold-table") == table
    _changed(page, mark, "transform", moved)


@pytest.mark.parametrize("width", [390, 1200])
def test_long_names_that_differ_at_their_end_can_be_told_apart(visit, tmp_path, width):
    random = np.random.default_rng(0)
    names = [f"a department of many words {number:02d}" for number in range(12)]
    found = audit(
        y_true=None, y_score=random.random(1200), sensitive_features=np.repeat(names, 100)
    )
    path = tmp_path / "long.html"
    path.write_text(render_report("Long", None, found), encoding="utf-8")
    page = visit(path.as_uri(), width=width).page
    for chart in ("chart-selection-rate", "chart-scores"):
        shown = page.locator(f"#{chart} .role-axis-label text").all_text_contents()
        assert {text[-2:] for text in shown} >= {name[-2:] for name in names}


def test_the_threshold_explorer_gives_one_group_no_gap(visit, tmp_path):
    random = np.random.default_rng(0)
    groups = ["many"] * 200 + ["few"] * 5
    found = audit(y_true=None, y_score=random.random(205), sensitive_features=groups)
    path = tmp_path / "few.html"
    path.write_text(render_report("Few", None, found), encoding="utf-8")
    page = visit(path.as_uri()).page
    assert page.text_content("#threshold-gap") == "–"
    assert page.text_content("#threshold-ratio") == "–"
    assert "Without the groups of fewer than 10" in page.text_content("#threshold-explorer")


def test_the_shift_explorer_agrees_with_the_library(visit, example):
    page = visit(example.path).page
    grids = shift_grids(example.guarantee)
    for number, claim in enumerate(example.guarantee.claims):
        _set(page, "#shift-claim", number)
        for place, (divergence, certified) in enumerate(claim.radius.items()):
            _set(page, "#shift-way", place)
            _set(page, "#shift-radius", 5)
            grid = grids[number]["ways"][place]
            shown = float(page.text_content("#shift-bound"))
            radius = grid["radii"][5]
            ratio = claim.quantity == "impact_ratio"
            contrast = contrasts.Contrast(ratio, contrasts.DIVERGENCES[divergence], radius)
            if claim.quantity in ("demographic_parity", "impact_ratio"):
                cells = [c for c in example.guarantee.counts if c.label is None]
                counts = [(cell.positive, cell.rows) for cell in cells]
                true = contrasts.bound(counts, contrast, error=example.guarantee.error)
                assert shown == pytest.approx(true, abs=1e-4)
                assert shown <= true if ratio else shown >= true
            assert _numbers(page.text_content("#shift-value"))[0] <= radius
            verdict = page.text_content("#shift-verdict")
            assert ("not guaranteed" in verdict) == (certified == 0.0)
            assert ("this is within" in verdict) == (0.0 < radius <= certified)


def test_the_band_widens_until_it_meets_the_limit(visit, two_groups):
    page = visit(two_groups.path).page
    steps = int(page.get_attribute("#shift-radius", "max"))
    bounds = []
    for step in range(steps + 1):
        _set(page, "#shift-radius", step)
        bounds.append(float(page.text_content("#shift-bound")))
    assert (np.diff(bounds) > 0).all()
    page.wait_for_timeout(100)
    before = page.get_attribute("#chart-shift .mark-line path", "d")
    _set(page, "#shift-way", 3)
    _changed(page, "#chart-shift .mark-line path", "d", before)
    first = two_groups.guarantee.claims[0]
    assert bounds[0] == pytest.approx(first.bound, abs=1e-4)
    assert bounds[0] < first.limit < bounds[-1]


def test_curves_can_be_chosen(visit, two_groups):
    page = visit(two_groups.path).page
    line = "#chart-curve .mark-line path"
    before = page.get_attribute(line, "d")
    choices = page.query_selector_all("#curve option")
    assert len(choices) >= 6
    _set(page, "#curve", 2)
    _changed(page, line, "d", before)


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("which", ["two_groups", "eight_groups"])
def test_axe_finds_nothing_serious(visit, request, which, scheme):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright")
    page = visit(request.getfixturevalue(which).path, scheme=scheme).page
    # What is folded away is looked at too, but for a table of thousands of cells like those above.
    folded = "document.querySelectorAll('details')"
    page.evaluate(f"{folded}.forEach(it => {{ it.open = it.textContent.length < 9000; }})")
    # A chart is one picture to those who do not see it, with words of its own.
    found = axe.Axe().run(page, context={"exclude": [".chart svg"]}).response["violations"]
    serious = [one for one in found if one["impact"] in ("serious", "critical")]
    assert [(one["id"], one["nodes"][0]["html"][:120]) for one in serious] == []


def test_colours_follow_light_and_dark(visit, two_groups):
    papers, inks = set(), set()
    for scheme in ("light", "dark"):
        page = visit(two_groups.path, scheme=scheme).page
        papers.add(page.evaluate("getComputedStyle(document.body).backgroundColor"))
        place = "#chart-gaps .role-axis-label text, #chart-selection-rate .role-axis-label text"
        inks.add(page.eval_on_selector(place, "it => getComputedStyle(it).fill"))
    assert len(papers) == len(inks) == 2


def test_it_prints_on_four_pages(visit, example):
    document = visit(example.path).page.pdf(prefer_css_page_size=True)
    assert 1 <= len(re.findall(rb"/Type\s*/Page\b(?!s)", document)) <= 4


def test_the_first_screen_shows_who_and_what(visit, two_groups):
    page = visit(two_groups.path, width=1600).page
    for text in ("Who is selected", "What is guaranteed", "What is not", "Until when",
                 "Who checks it"):  # fmt: skip
        box = page.locator(f".first h2:text-is('{text}')").bounding_box()
        assert box["y"] + box["height"] < 900
