import pytest

from fairsmooth.experiments import FAILS, HOLDS, SAME, UNKNOWN, Verdict
from fairsmooth.experiments.claims.verdict import every, most


@pytest.mark.parametrize(
    ("outcomes", "all_of", "most_of"),
    [
        ([HOLDS, HOLDS, HOLDS], HOLDS, HOLDS),
        ([HOLDS, HOLDS, UNKNOWN], UNKNOWN, HOLDS),
        ([HOLDS, HOLDS, FAILS], FAILS, HOLDS),
        ([HOLDS, FAILS], FAILS, FAILS),
        ([HOLDS, UNKNOWN, FAILS], FAILS, UNKNOWN),
        ([UNKNOWN, FAILS, FAILS], FAILS, FAILS),
        ([SAME, HOLDS, UNKNOWN], SAME, UNKNOWN),
        ([SAME, SAME, HOLDS], SAME, SAME),
        ([SAME, FAILS, HOLDS, HOLDS], FAILS, FAILS),
        ([SAME, HOLDS, HOLDS], SAME, HOLDS),
    ],
)
def test_answers_put_together(outcomes, all_of, most_of):
    verdicts = [Verdict(outcome, "") for outcome in outcomes]
    assert every(verdicts).outcome == all_of
    assert most(verdicts).outcome == most_of


def test_what_decides_is_the_evidence():
    verdicts = [Verdict(HOLDS, "fine"), Verdict(FAILS, "wrong"), Verdict(UNKNOWN, "open")]
    assert every(verdicts).evidence == "wrong"
    assert "and 2 more" in every([Verdict(HOLDS, str(number)) for number in range(5)]).evidence
