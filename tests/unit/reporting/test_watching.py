import numpy as np
import pytest

from fairsmooth.guarantees import GapMonitor
from fairsmooth.reporting import figures
from fairsmooth.reporting.watching import chart, render_watch, write_watch


@pytest.fixture(scope="module")
def monitor():
    random = np.random.default_rng(0)
    found = GapMonitor({"demographic_parity": 0.2, "impact_ratio": 0.5})
    for week in range(12):
        group = random.choice(["$f$", "<b>m</b>"], 300)
        found.update(random.integers(0, 2, 300), sensitive_features=group, date=f"2026-01-{week}")
    return found


def test_the_page_has_status_charts_and_counts(monitor, tmp_path):
    write_watch(tmp_path / "w.html", monitor, title="A <title>", notes=["A & B"])
    page = (tmp_path / "w.html").read_text()
    assert page == render_watch(monitor, title="A <title>", notes=["A & B"])
    assert page.count('class="chart" id="chart-') == 2
    assert "<b>m</b>" not in page
    # Intervals of one look would lie to somebody who looks after every batch.
    assert "interval:" not in page.split("<script")[0]
    assert 'class="interval"' not in page.split("</style>")[1].split("<script")[0]
    for text in ("A &lt;title&gt;", "A &amp; B", "&lt;b&gt;m&lt;/b&gt;", "Still guaranteed",
                 "after 12 batches", "2026-01-0", "Demographic parity gap"):  # fmt: skip
        assert text in page
    rows = sum(cell["rows"] for cell in monitor.counts if cell["label"] is None)
    assert rows == 12 * 300


def test_the_chart_draws_the_history_and_the_limit(monitor):
    axes = chart(monitor, "demographic_parity").axes[0]
    measured, bounds, limit = axes.get_lines()
    history = monitor.history
    assert list(measured.get_ydata()) == [e["measured"]["demographic_parity"] for e in history]
    assert list(bounds.get_ydata()) == [e["bounds"]["demographic_parity"] for e in history]
    assert set(limit.get_ydata()) == {0.2}
    assert axes.get_xlabel() == "batch and its date"
    assert axes.get_ylabel() == "demographic parity gap"
    assert len(axes.get_xticks()) <= 8


def test_a_ratio_is_bounded_below_and_fills_the_frame(monitor):
    figure = chart(monitor, "impact_ratio")
    assert figure.axes[0].get_ylim() == (0.0, 1.02)
    assert [text.get_text() for text in figure.legends[0].get_texts()][1] == "surely at least"


def test_nothing_measured_yet_and_a_limit_of_nothing_can_be_drawn():
    figure = figures.over_time(["2026-01-01"], [None], [1.0], limit=0.0, name="gap")
    assert "gap" in figures.as_svg(figure)


def test_without_a_script_the_charts_are_still(monitor):
    page = render_watch(monitor, title="Still", interactive=False)
    assert page.count("<svg") == 2
    assert "<script" not in page
    assert "pip install fairsmooth[report]" in page


def test_a_monitor_without_batches_has_no_charts():
    page = render_watch(GapMonitor({"demographic_parity": 0.1}), title="New")
    assert "cannot be told" in page
    assert "<svg" not in page


def test_one_group_in_one_batch_is_told_as_that():
    found = GapMonitor({"demographic_parity": 0.2})
    found.update([1, 0, 1], sensitive_features=["a", "a", "a"])
    page = render_watch(found, title="One")
    assert "Status after 1 batch:" in page
    assert "nothing is known yet: fewer than two groups have rows." in page
    assert "fewer than two groups have rows; limit 0.2" in str(found)


def test_a_label_that_nobody_has_yet_is_named():
    found = GapMonitor({"equalized_odds_sum": 0.2})
    found.update([1, 0, 1, 0], sensitive_features=["a", "a", "b", "b"], y_true=[1, 0, 0, 0])
    words = "a group has no rows with a positive label, or none with a negative label"
    assert f"nothing is known yet: {words}." in render_watch(found, title="Labels")


def test_an_alarm_is_not_said_to_hold():
    found = GapMonitor({"demographic_parity": 0.05})
    found.update([1] * 500 + [0] * 500, sensitive_features=["a"] * 500 + ["b"] * 500)
    page = render_watch(found, title="Alarm")
    assert found.status == "alarm"
    assert "It holds" not in page
    assert "Bounds hold while rates stay what they were since" in page
