import pytest
from sklearn.linear_model import LogisticRegression

from fairsmooth.exceptions import InputError
from fairsmooth.metrics.scored import score_rows


def test_without_a_certificate_there_is_no_own_classifier(case):
    plain = LogisticRegression().fit(case.X, case.y)
    scored = score_rows(plain, case.X, case.y, sensitive_features=case.group)
    for name in ("own", "epsilons"):
        with pytest.raises(InputError, match="Expected a classifier with a certificate"):
            getattr(scored, name)


def test_own_scores_are_those_of_the_rows_group(case):
    scored = score_rows(case.clf, case.X, case.y, sensitive_features=case.group)
    for group in ("f", "m"):
        rows = case.group == group
        expected = case.clf.predict_proba_group(case.X, group)[rows, 1]
        assert (scored.own[rows] == expected).all()
