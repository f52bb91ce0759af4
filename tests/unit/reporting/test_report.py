import json
import re

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression

from fairsmooth import FairSmoothClassifier, certify, guarantee_gaps
from fairsmooth.metrics import audit, bias_audit
from fairsmooth.reporting import figures, report
from fairsmooth.reporting.report import PLAIN, render_report
from fairsmooth.reporting.subject import Subject
from fairsmooth.tables import TableModel
from fairsmooth.tables.plain import plain_audit
from fairsmooth.verify import Check

# What broke rich, matplotlib and HTML once.
NAMES = ("[/nope]", "$\\frac{x$", "</script><script>alert(1)</script>", "女", "a|b", "")
DAY = Subject(date="2026-01-01")


@pytest.fixture(scope="module")
def model():
    random = np.random.default_rng(0)
    n = 600
    names = np.array(NAMES[:5])
    table = pd.DataFrame(
        {
            "x": random.normal(size=n),
            "$y_$ <b>": random.choice(["u", "v"], n),
            "who": random.choice(names, n),
            "loan": random.choice(["granted", "denied"], n),
        }
    )
    fitted = TableModel.fit(
        table, label="loan", positive="granted", sensitive="who", random_state=0
    )
    return fitted, table


def test_a_page_says_what_was_trained(model):
    fitted, table = model
    result = fitted.audit(table, shift=True)
    page = render_report("Title", fitted.certificate, result, provenance=fitted.provenance)
    for text in (
        "loan = granted is predicted", "<dd>who</dd>", "600 audited rows",
        f"<dd>{fitted.provenance.rows}, {fitted.provenance.date}</dd>", fitted.provenance.digest,
        "[/nope]", "fairsmooth verify MODEL", "not run",
    ):  # fmt: skip
        assert text in page
    assert "held-out rows" not in page
    assert len(page.encode()) < 3e6


def test_names_cannot_leave_their_place(model):
    fitted, table = model
    result = fitted.audit(table, shift=True)
    page = render_report("</title><script>", fitted.certificate, result)
    assert "<script>alert" not in page
    assert page.count("<script") == 3
    data = re.search(r'id="report-data">(.*?)</script>', page, re.S).group(1)
    held = json.loads(data)
    assert NAMES[2] in {group["name"] for group in held["threshold"]["groups"]}
    # Nothing is loaded: every script stands in the page, named by its hash.
    outside = re.sub(r"<script>.*?</script>", "", page, flags=re.S)
    assert not re.search(r"<(link|img|iframe|script[^>]* src)", outside)
    assert re.search(r"default-src 'none'; .*script-src ('sha256-[\w+/=]+' ?){2}\"", page)


def test_the_same_input_gives_the_same_page(model):
    fitted, table = model
    pages = [
        render_report("T", fitted.certificate, fitted.audit(table), subject=DAY) for _ in range(2)
    ]
    assert pages[0] == pages[1]
    assert "2026-01-01" in pages[0]


def test_a_page_holds_counts_and_no_rows(model):
    fitted, table = model
    result = fitted.audit(table)
    page = render_report("T", fitted.certificate, result, subject=DAY)
    held = json.loads(re.search(r'id="report-data">(.*?)</script>', page, re.S).group(1))
    for group in held["threshold"]["groups"]:
        for cell in group["cells"]:
            assert all(step >= 10 for step in -np.diff([cell["rows"], *cell["above"], 0]))


def test_held_out_is_said_only_when_it_is_known(model):
    fitted, _ = model
    page = render_report("Title", fitted.certificate, fitted.measured, held_out=True)
    assert f"{fitted.measured.n_rows} held-out rows" in page


def test_bounds_are_rounded_up(model):
    fitted, table = model
    page = render_report("Title", fitted.certificate, fitted.audit(table))
    for bound in fitted.certificate.epsilon_by_group.values():
        assert f"<td>{np.ceil(bound * 1e4) / 1e4:.4f}</td>" in page


def test_a_plain_regression_stands_beside_the_model(model):
    fitted, table = model
    rows = fitted.audited(table)
    other = plain_audit(rows)
    page = render_report(
        "T", fitted.certificate, fitted.audit(table), beside={PLAIN: other}, subject=DAY
    )
    gap = other.find("demographic_parity").value
    assert f"Plain logistic regression on the same rows: {100 * gap:.1f} percentage points" in page
    assert plain_audit(fitted.audited(table.drop(columns="loan"))) is None


def test_a_model_without_a_certificate_is_said_to_have_none(biased):
    plain = LogisticRegression().fit(biased.X, biased.y)
    result = audit(plain, biased.X, biased.y, sensitive_features=biased.sensitive_features)
    page = render_report("Plain", None, result)
    assert "The scores have no certificate" in page
    assert "No gap between groups is guaranteed" in page
    assert "None" not in re.sub(r"<script.*?</script>", "", page, flags=re.S)
    assert "Undefined" not in re.sub(r"<script.*?</script>", "", page, flags=re.S)


def test_an_unsmoothed_model_is_said_to_certify_nothing(biased):
    clf = FairSmoothClassifier(sigma=0.0)
    clf.fit(biased.X, biased.y, sensitive_features=biased.sensitive_features)
    result = audit(clf, biased.X, biased.y, sensitive_features=biased.sensitive_features)
    page = render_report("Unsmoothed", clf.certificate_, result)
    assert "The certificate of the scores says nothing" in page


def test_decisions_without_scores_or_labels_have_a_page():
    decided, groups = [0, 1, 1, 0] * 20, ["a", "b"] * 40
    page = render_report("D", None, audit(y_pred=decided, sensitive_features=groups))
    assert "threshold-explorer" not in page.split("<script")[0]
    standard = bias_audit(groups, selected=decided)
    with_table = render_report(
        "D", None, audit(y_pred=decided, sensitive_features=groups), standard=standard
    )
    assert "Local Law 144" in with_table
    assert "Local Law 144" not in page


def test_without_the_extra_the_charts_are_still(model, monkeypatch):
    fitted, table = model
    monkeypatch.setattr(report, "available", lambda: False)
    page = render_report("S", fitted.certificate, fitted.audit(table, shift=True))
    assert "<script" not in page
    assert page.count("<svg") == 5
    assert "pip install fairsmooth[report]" in page
    assert "script-src 'none'" in page


@pytest.mark.parametrize(
    ("checks", "words"),
    [
        ((Check("a", True, ""), Check("b", True, "", checked=False)), "confirmed 1 points and"),
        ((Check("a", False, ""),), "does NOT hold: a"),
        ((Check("a", True, ""), Check("b", False, "", checked=False)), "needs the safety rows"),
    ],
)  # fmt: skip
def test_the_page_says_who_checked(biased, checks, words):
    found = certify([[0.0], [0.1]], sigma=1.0, groups=["a", "b"])
    result = audit(y_pred=biased.y, sensitive_features=biased.sensitive_features)
    page = render_report("C", found, result, subject=Subject(checks=checks))
    assert words in page


def test_objects_have_pages_and_pieces_of_pages(model, tmp_path):
    fitted, table = model
    result = fitted.audit(table)
    random = np.random.default_rng(0)
    groups = random.choice([NAMES[2], "b"], 900)
    proved = guarantee_gaps(
        random.integers(0, 2, 900), sensitive_features=groups, limits={"demographic_parity": 0.2}
    )
    for one in (result, fitted.certificate, proved):
        page = one.to_html(tmp_path / "page.html")
        assert (tmp_path / "page.html").read_text(encoding="utf-8") == page
        assert page.startswith("<!doctype html>")
        piece = one._repr_html_()
        assert piece.startswith("<div>")
        assert "<table>" in piece
        for text in (page, piece):
            assert "<script>alert" not in text
        assert "&lt;script&gt;alert" in piece or one is proved


def test_a_series_withholds_everything(biased):
    decided = np.arange(600) % 2
    found = guarantee_gaps(
        decided, sensitive_features=biased.sensitive_features, attempt=2,
        limits={"demographic_parity": 0.9},
    )  # fmt: skip
    page = found.to_html()
    assert "Attempt 2 of a declared series passes its limits" in page
    assert "Rates of the groups are not shown here" in page
    assert "shift-explorer" not in page.split("</style>")[1]


@pytest.mark.parametrize("name", NAMES)
def test_any_name_can_be_drawn(name):
    figure = figures.intervals([name, "b"], [0.2, 0.3], [0.1, 0.2], [0.3, 0.4], title=name)
    assert figures.as_svg(figure).startswith("<svg")
    points = pd.DataFrame(
        {"strength": [0.0, 1.0], "value": [0.1, 0.2], "low": [0.0, 0.1], "high": [0.2, 0.3],
         "reference": [0.1, 0.1]}
    )  # fmt: skip
    assert figures.as_svg(figures.shift_panels({name: points}, title=name)).startswith("<svg")


def test_a_page_of_arrays_names_its_threshold_and_no_model():
    random = np.random.default_rng(0)
    found = audit(
        y_true=random.integers(0, 2, 100), y_score=random.random(100), threshold=0.25,
        sensitive_features=np.repeat(["a", "b"], 50),
    )  # fmt: skip
    page = render_report("Arrays", None, found)
    assert "that is, where the score exceeds</dt><dd>0.25</dd>" in page
    assert "MODEL" not in page.split("How to check this yourself")[1]
    assert "fairsmooth audit DATA --scores COLUMN" in page
    # There are no digests at the top of it.
    assert "sha256sum" not in page
