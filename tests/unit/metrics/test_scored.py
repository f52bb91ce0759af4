import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from fairsmooth.core.rule import FittedRule
from fairsmooth.estimator import FairSmoothClassifier
from fairsmooth.exceptions import InputError
from fairsmooth.metrics.rates import rate_samples
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


@pytest.mark.parametrize("labelled", [True, False])
def test_samples_are_those_that_rates_average(case, labelled):
    y = case.y if labelled else None
    scored = score_rows(case.clf, case.X, y, sensitive_features=case.group)
    for kind, values in scored.by_kind().items():
        expected = rate_samples(values, scored.y, scored.groups)
        assert list(scored.samples[kind]) == list(expected)
        for name, samples in expected.items():
            found = scored.samples[kind][name]
            parts = np.split(found.values, np.cumsum(found.counts)[:-1])
            for mine, theirs in zip(parts, samples, strict=True):
                np.testing.assert_array_equal(mine, theirs)


def test_every_row_is_smoothed_once_per_classifier(biased, monkeypatch):
    model = FairSmoothClassifier(max_iter=20).fit(
        biased.X, biased.y, sensitive_features=biased.sensitive_features
    )
    passes = []
    smooth = FittedRule._smooth

    def counted(self, X, parameters, **options):
        passes.append(len(X))
        return smooth(self, X, parameters, **options)

    expected = model.predict_proba(biased.X)[:, 1], model.predict_interval(biased.X)
    monkeypatch.setattr(FittedRule, "_smooth", counted)
    groups = biased.sensitive_features
    scored = score_rows(model, biased.X, biased.y, sensitive_features=groups)
    assert passes == [len(biased)] * (1 + len(model.groups_))
    np.testing.assert_array_equal(scored.scores, expected[0])
    inside = (expected[1][..., 0] > 0.5) | (expected[1][..., 1] <= 0.5)
    np.testing.assert_array_equal(
        scored.agreed, inside[np.arange(len(biased)), scored.groups.codes]
    )
