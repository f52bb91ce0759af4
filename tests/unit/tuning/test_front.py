import io
import json
from dataclasses import FrozenInstanceError

import pytest

from fairsmooth.exceptions import InputError
from fairsmooth.tuning import FrontPoint, ParetoFront
from fairsmooth.tuning.alternatives import Alternatives, explain_choice


def point(name, accuracy, dp, eo, **flags):
    measured = {"accuracy": accuracy, "demographic_parity": dp, "equalized_odds_sum": eo}
    intervals = {n: (max(v - 0.02, 0.0), v + 0.02) for n, v in measured.items()}
    return FrontPoint(name, {"sigma": 1.0}, {**measured, "epsilon": 0.01}, intervals, **flags)


@pytest.fixture
def front():
    return ParetoFront(
        (
            point("trial 0", 0.86, 0.17, 0.2, on_front=True, baseline=True),
            point("trial 3", 0.84, 0.04, 0.07, on_front=True, keeps_aim=True, chosen=True),
            point("trial 2", 0.83, 0.05, 0.09),
        ),
        {"demographic_parity": 0.05},
        {"kind": "share", "share": 0.9, "aims": {"demographic_parity": 0.045}},
        30_000,
        4,
        0.95,
        (point("fairlearn, equalized odds within 0.05", 0.83, 0.06, 0.05),),
    )


def test_the_front_is_what_is_not_beaten(front):
    assert [p.name for p in front.points] == ["trial 0", "trial 3"]
    assert front.chosen.name == "trial 3"
    with pytest.raises(FrozenInstanceError):
        front.n_rows = 3
    table = front.table()
    assert table["name"].tolist()[:2] == ["trial 0", "trial 3"]
    assert table["demographic_parity_high"].tolist()[1] == pytest.approx(0.06)
    assert "trial 2" not in set(table["name"])


def test_it_survives_json(front):
    again = ParetoFront.from_dict(json.loads(json.dumps(front.to_dict())))
    assert again == front
    for damage in ({"trials": 3}, {"n_rows": "many"}, {"peers": [{}]}):
        with pytest.raises(InputError, match="Expected a front as written"):
            ParetoFront.from_dict({**front.to_dict(), **damage})


def test_it_draws_itself_with_limits_aims_and_peers(front):
    figure = front.figure()
    figure.savefig(io.BytesIO(), format="png")
    legend = [text.get_text() for text in figure.legends[0].get_texts()]
    assert legend == ["chosen", "beaten trial", "baseline, no parity", "limit", "aim",
                      "fairlearn, equalized odds"]  # fmt: skip
    html = front._repr_html_()
    assert "2 of 3 finished trials" in html
    assert "data:image/png;base64," in html
    assert "<script" not in html


def trial(number, accuracy, dp, eo, **facts):
    return {
        "trial": number, "accuracy": accuracy, "demographic_parity": dp, "equalized_odds_sum": eo,
        "epsilon": 0.01, "outcome": "finished", "stopped": None, "keeps_aim": False,
        "cost": 0.86 - accuracy, "folds": 4, "parameters": {"sigma": 1.0, "parity": None},
        "intervals": {n: [v - 0.01, v + 0.01] for n, v in
                      (("accuracy", accuracy), ("demographic_parity", dp),
                       ("equalized_odds_sum", eo))},
        **facts,
    }  # fmt: skip


def test_the_record_says_why_and_what_smaller_gaps_would_cost():
    trials = (
        trial(0, 0.86, 0.17, 0.2),
        trial(1, 0.84, 0.04, 0.07, keeps_aim=True, outcome="chosen"),
        trial(2, 0.835, 0.02, 0.03, keeps_aim=True),
        trial(3, 0.7, 0.3, 0.3, outcome="stopped", stopped="trial 1 is better", cost=None),
    )
    why = explain_choice(trials, chosen=1, feasible=True, limited=True)
    assert "of the 2 finished trials that keep what was aimed at" in why[0]
    assert "costs 0.0200 of accuracy" in why[1]
    assert "trial 2" in why[2]
    assert "less accurate by 0.0050, which is within the interval" in why[2]
    assert "1 of 4 trials were stopped" in why[3]
    page = Alternatives({"seed": 0, "limits": {"demographic_parity": 0.05}}, trials, why)
    text = page.to_markdown()
    assert "| 3 | 0.7000 | – |" in text
    assert "stopped: trial 1 is better" in text
    json.dumps(page.to_dict(), allow_nan=False)


def test_the_record_says_so_where_nothing_keeps_the_limits():
    trials = (trial(0, 0.86, 0.17, 0.2), trial(1, 0.84, 0.1, 0.1, outcome="chosen"))
    why = explain_choice(trials, chosen=1, feasible=False, limited=True)
    assert why[0].startswith("No finished trial keeps what was aimed at; trial 1 exceeds it least")
    assert why[2] == "No finished trial has both gaps smaller than the chosen one."
    free = explain_choice(trials, chosen=0, feasible=True, limited=False)
    assert "for its accuracy alone" in free[0]
    assert "less accurate by 0.0200, which is below the interval" in free[1]
    tied = (trial(0, 0.86, 0.17, 0.2, outcome="chosen"), trial(1, 0.86, 0.1, 0.1))
    assert "no less accurate" in explain_choice(tied, chosen=0, feasible=True, limited=True)[1]
