import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression

from fairsmooth import FairSmoothClassifier
from fairsmooth.metrics import audit
from fairsmooth.reporting import figures
from fairsmooth.reporting.report import render_report
from fairsmooth.tables import TableModel

# What broke rich, matplotlib and HTML once.
NAMES = ("[/nope]", "$\\frac{x$", "<script>alert(1)</script>", "女", "a|b", "")


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
    page = render_report(
        "Title", fitted.certificate, result, provenance=fitted.provenance, held_out=False
    )
    for text in (
        "<td>loan</td>", "<td>granted</td>", "<td>denied</td>", "<td>who</td>",
        f"<td>{fitted.provenance.rows}</td>", fitted.provenance.digest,
        "A row is selected where loan", "600 audited rows",
    ):  # fmt: skip
        assert text in page
    assert "held-out rows" not in page
    assert "<script" not in page
    assert "[/nope]" in page


def test_held_out_is_said_only_when_it_is_known(model):
    fitted, _ = model
    page = render_report("Title", fitted.certificate, fitted.measured, held_out=True)
    assert f"{fitted.measured.n_rows} held-out rows" in page


def test_bounds_are_rounded_up(model):
    fitted, table = model
    page = render_report("Title", fitted.certificate, fitted.audit(table))
    for bound in fitted.certificate.epsilon_by_group.values():
        assert f"<td>{np.ceil(bound * 1e4) / 1e4:.4f}</td>" in page


def test_a_model_without_a_certificate_is_said_to_have_none(biased):
    plain = LogisticRegression().fit(biased.X, biased.y)
    result = audit(plain, biased.X, biased.y, sensitive_features=biased.sensitive_features)
    page = render_report("Plain", None, result)
    assert "Nothing is certified" in page
    assert "What is certified" not in page
    assert "None" not in page
    assert "Undefined" not in page


def test_an_unsmoothed_model_is_said_to_certify_nothing(biased):
    clf = FairSmoothClassifier(sigma=0.0)
    clf.fit(biased.X, biased.y, sensitive_features=biased.sensitive_features)
    result = audit(clf, biased.X, biased.y, sensitive_features=biased.sensitive_features)
    page = render_report("Unsmoothed", clf.certificate_, result)
    assert "Nothing is certified" in page


@pytest.mark.parametrize("name", NAMES)
def test_any_name_can_be_drawn(name):
    figure = figures.intervals([name, "b"], [0.2, 0.3], [0.1, 0.2], [0.3, 0.4], title=name)
    assert figures.as_svg(figure).startswith("<svg")
    points = pd.DataFrame(
        {"strength": [0.0, 1.0], "value": [0.1, 0.2], "low": [0.0, 0.1], "high": [0.2, 0.3],
         "reference": [0.1, 0.1]}
    )  # fmt: skip
    assert figures.as_svg(figures.shift_panels({name: points}, title=name)).startswith("<svg")
