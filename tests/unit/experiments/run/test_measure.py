import numpy as np
import pytest

from fairsmooth.datasets import load_compas, random_partition
from fairsmooth.estimator import FairSmoothClassifier
from fairsmooth.experiments.run.measure import certificate_figures, partition_rates
from fairsmooth.experiments.settings import PARTITIONS
from fairsmooth.metrics import accuracy, demographic_parity_gap, equalized_odds_gap
from fairsmooth.metrics.rates import measure


@pytest.fixture(scope="module")
def decided():
    data = load_compas("aif360", sensitive="race")
    return data, np.random.default_rng(0).integers(0, 2, size=len(data))


def check_against_metrics(found, data, decisions):
    groups = {"sensitive_features": data.sensitive_features}
    assert found["accuracy"] == pytest.approx(accuracy(data.y, decisions))
    assert found["demographic_parity"] == pytest.approx(
        demographic_parity_gap(data.y, decisions, **groups)
    )
    for kind in ("sum", "max"):
        assert found[f"equalized_odds_{kind}"] == pytest.approx(
            equalized_odds_gap(data.y, decisions, kind=kind, **groups)
        )


def test_rates_are_those_of_the_metrics(decided):
    data, decisions = decided
    check_against_metrics(measure(decisions, data.y, data.groups), data, decisions)


def test_a_gap_without_two_groups_is_not_a_number(decided):
    data, decisions = decided
    alone = np.flatnonzero(data.groups.codes == 0)
    found = measure(decisions[alone], data.y[alone], data.take(alone).groups)
    assert np.isnan(found["demographic_parity"])


def test_partitions_are_those_of_the_datasets(decided):
    data, decisions = decided
    found = partition_rates(decisions, data, PARTITIONS, seed=3)
    assert list(found) == ["0.05", "0.1", "0.15", "0.3", "0.4"]
    marked = data.take(np.arange(len(data)))
    marked.X["row"] = np.arange(len(data), dtype=float)
    part = random_partition(marked, 0.1, random_state=3)
    rows = part.X["row"].to_numpy(dtype=int)
    check_against_metrics(found["0.1"], part, decisions[rows])


def test_certificate_figures_are_fairsmooths_alone(biased):
    model = FairSmoothClassifier(max_iter=20, free_reference=False).fit(
        biased.X, biased.y, sensitive_features=biased.sensitive_features
    )
    found = certificate_figures(model, biased)
    assert found["measured_gap"] <= found["epsilon_tight"] <= found["epsilon"]
    assert found["max_distance"] == pytest.approx(
        np.linalg.norm(model.group_parameters_[0] - model.group_parameters_[1])
    )
    assert found["mean_distance"] == pytest.approx(found["max_distance"] / 2)
    assert certificate_figures(object(), biased) == {}
