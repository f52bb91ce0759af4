"""Thresholds: given, chosen for accuracy or for a rate, and changed afterwards."""

from dataclasses import replace

import numpy as np
import pytest

from fairsmooth import FairSmoothClassifier, InputError, guarantee_gaps
from fairsmooth.cli.main import main
from fairsmooth.datasets import make_biased
from fairsmooth.tables import TableModel
from fairsmooth.training.threshold import threshold_at_rate


def table(n=600):
    data = make_biased(n_samples=n, random_state=0)
    return data.X.assign(sex=data.sensitive_features, hired=data.y)


@pytest.fixture(scope="module")
def model():
    return TableModel.fit(table(), label="hired", sensitive="sex", random_state=0)


def test_another_threshold_changes_decisions_alone(model):
    other = model.with_threshold(0.7)
    before, after = model.predict(table()), other.predict(table())
    assert (before["probability"] == after["probability"]).all()
    assert (after["prediction"] == (after["probability"] > 0.7)).all()
    assert model.classifier.threshold_ == 0.5
    assert other.certificate == model.certificate
    assert other.measured is None


def test_it_travels_with_the_file(model, tmp_path):
    model.with_threshold(0.7).save(tmp_path / "m")
    assert TableModel.load(tmp_path / "m").classifier.threshold_ == 0.7


def test_a_guarantee_is_of_one_threshold(model):
    decided = model.predict(table())["prediction"]
    guarantee = guarantee_gaps(
        decided, sensitive_features=table()["sex"], limits={"demographic_parity": 0.9}
    )
    guaranteed = replace(model, guarantee=guarantee)
    assert guaranteed.with_threshold(0.5).guarantee is guarantee
    with pytest.warns(UserWarning, match="above 0.6 nothing is guaranteed, so it is dropped"):
        assert guaranteed.with_threshold(0.6).guarantee is None
    with pytest.warns(UserWarning, match="these are above 0.6, and nothing is guaranteed of them"):
        guaranteed.predict(table(), threshold=0.6)
    guaranteed.predict(table(), threshold=0.5)
    with pytest.raises(InputError, match="Expected threshold between"):
        model.with_threshold(1.2)


@pytest.mark.parametrize("rate", [0.05, 0.2, 0.5, 0.9])
def test_the_rate_is_the_nearest_that_scores_allow(rate):
    rng = np.random.default_rng(0)
    scores = rng.integers(0, 30, 200) / 30
    shares = [(scores > cut).mean() for cut in np.append(np.unique(scores), 0.0)]
    found = (scores > threshold_at_rate(scores, rate)).mean()
    assert abs(found - rate) == pytest.approx(min(abs(share - rate) for share in shares))


def test_a_classifier_decides_the_share_that_was_asked_for():
    data = make_biased(n_samples=2000, random_state=0)
    clf = FairSmoothClassifier(threshold="rate:0.2", validation_fraction=0.5, random_state=0)
    clf.fit(data.X, data.y, sensitive_features=data.sensitive_features)
    assert (clf.predict(data.X) == 1).mean() == pytest.approx(0.2, abs=0.03)
    clf.set_params(threshold="rate:2")
    with pytest.raises(InputError, match="a share between 0 and 1 such as"):
        clf.fit(data.X, data.y, sensitive_features=data.sensitive_features)


@pytest.mark.parametrize("threshold", ["0.4", "accuracy", "rate:.2"])
def test_the_command_takes_all_three(threshold, tmp_path, capsys):
    table().to_csv(tmp_path / "t.csv", index=False)
    arguments = ["train", str(tmp_path / "t.csv"), "--label", "hired", "--sensitive", "sex",
                 "-o", str(tmp_path / "m")]  # fmt: skip
    assert main([*arguments, "--threshold", threshold]) == 0
    chosen = TableModel.load(tmp_path / "m").classifier.threshold_
    assert 0.0 < chosen < 1.0
    assert (chosen == 0.4) == (threshold == "0.4")
    assert main([*arguments, "--threshold", threshold, "--guarantee-dp", "0.5"]) == 2
    assert "Expected --threshold or a guarantee, got both" in capsys.readouterr().err


def test_a_threshold_that_is_none(tmp_path, capsys):
    table().to_csv(tmp_path / "t.csv", index=False)
    arguments = ["train", str(tmp_path / "t.csv"), "--label", "hired", "--sensitive", "sex",
                 "-o", str(tmp_path / "m"), "--threshold", "high"]  # fmt: skip
    assert main(arguments) == 2
    assert "got threshold='high'" in capsys.readouterr().err
