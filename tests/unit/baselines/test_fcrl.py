import math

import numpy as np
import pandas as pd
import pytest
import torch
from sklearn.base import clone
from sklearn.neighbors import KNeighborsClassifier

from fairsmooth.baselines.fcrl.classifier import FCRLClassifier
from fairsmooth.baselines.fcrl.contrastive import (
    FairRepresentation,
    contrastive_information,
    normal_divergence,
)
from fairsmooth.exceptions import InputError


def _data(n_rows=800, n_groups=2, seed=0):
    rng = np.random.default_rng(seed)
    groups = rng.integers(n_groups, size=n_rows)
    X = rng.normal(size=(n_rows, 4))
    X[:, 0] += 1.5 * groups / (n_groups - 1)
    y = (X[:, 0] + X[:, 1] + 0.3 * rng.normal(size=n_rows) > 0.75).astype(int)
    return X, y, groups


def _small(**parameters):
    defaults = {"n_epochs": 15, "learning_rate": 5e-3, "information_weight": 0.05}
    return FCRLClassifier(**{**defaults, "random_state": 0, **parameters})


def _gaussian_pairs(correlations, n_rows, generator):
    """Draw standard normal pairs whose correlation depends on the group."""
    codes = torch.randint(len(correlations), (n_rows,), generator=generator)
    rho = torch.tensor(correlations, dtype=torch.float64)[codes]
    x, noise = torch.randn((2, n_rows), generator=generator, dtype=torch.float64)
    return x, rho * x + (1 - rho.square()).sqrt() * noise, rho, codes


def _density_ratios(x, z, rho):
    """Return p(z_j | x_i) / p(z_j), the affinities for which the estimate is sharp."""
    spread = 1 - rho.square()[:, None]
    away = (z[None, :] - rho[:, None] * x[:, None]).square() / spread
    return spread.rsqrt() * ((z.square()[None, :] - away) / 2).exp()


def _information(rho):
    return -0.5 * math.log(1 - rho**2)


def test_contrastive_information_reaches_the_gaussian_conditional_information():
    correlations = (0.9, 0.5)
    exact = np.mean([_information(rho) for rho in correlations])
    generator = torch.Generator().manual_seed(0)
    estimates = []
    for _ in range(12):
        x, z, rho, codes = _gaussian_pairs(correlations, 1500, generator)
        estimates.append(contrastive_information(_density_ratios(x, z, rho), codes).mean().item())
    error = np.std(estimates) / math.sqrt(len(estimates))
    # Below the truth, up to sampling; and close to it, as the bound is sharp for many negatives.
    assert np.mean(estimates) < exact + 3 * error
    assert np.mean(estimates) == pytest.approx(exact, abs=0.01 + 3 * error)


def test_contrastive_information_needs_its_groups():
    # Over both groups together z tells the group, and the group tells x: that is not counted.
    generator = torch.Generator().manual_seed(0)
    codes = torch.arange(1000) % 2
    shift = 6.0 * codes.to(torch.float64)
    x, z = torch.randn((2, 1000), generator=generator, dtype=torch.float64) + shift
    affinities = (-(x[:, None] - z[None, :]).square() / 40).exp()
    within = contrastive_information(affinities, codes).mean().item()
    across = contrastive_information(affinities, torch.zeros(1000)).mean().item()
    assert across > 0.1
    assert within < 0.03


@pytest.mark.parametrize("rho", [0.5, 0.95])
def test_contrastive_information_stays_below_truth_and_log_batch_for_other_affinities(rho):
    generator = torch.Generator().manual_seed(1)
    for batch in (2, 16, 128):
        values = []
        for _ in range(4000 // batch):
            x, z, _, codes = _gaussian_pairs((rho,), batch, generator)
            affinities = torch.nn.functional.softplus(3.0 * x[:, None] * z[None, :])
            values += contrastive_information(affinities, codes).tolist()
        error = np.std(values) / math.sqrt(len(values) / batch)
        assert np.mean(values) <= min(_information(rho), math.log(batch)) + 3 * error


def test_trained_critic_learns_the_information_but_does_not_exceed_it():
    generator = torch.Generator().manual_seed(2)
    networks = FairRepresentation(1, 2, n_components=1, hidden_size=20, generator=generator)
    correlations = (0.95, 0.8)
    exact = np.mean([_information(rho) for rho in correlations])
    optimizer = torch.optim.Adam(networks.parameters(), lr=0.03)
    values = []
    for step in range(300):
        x, z, _, codes = _gaussian_pairs(correlations, 128, generator)
        affinities = networks.affinities(x[:, None].float(), z[:, None].float(), codes)
        information = contrastive_information(affinities, codes).mean()
        optimizer.zero_grad()
        (-information).backward()
        optimizer.step()
        values += [information.item()] if step >= 150 else []
    error = np.std(values) / math.sqrt(len(values))
    assert 0.3 * exact < np.mean(values) < exact + 3 * error


def test_divergence_is_the_gaussian_information():
    # z = rho x + noise is standard normal over all x: then the bound on I(x; z) is an equality.
    nodes, weights = np.polynomial.hermite_e.hermegauss(20)
    for rho in (0.3, 0.9):
        means = torch.tensor(rho * nodes)[:, None]
        deviations = torch.full_like(means, math.sqrt(1 - rho**2))
        divergence = normal_divergence(means, deviations).numpy()
        assert divergence @ weights / weights.sum() == pytest.approx(_information(rho), rel=1e-12)


def test_divergence_agrees_with_torch():
    generator = torch.Generator().manual_seed(0)
    means, spread = torch.randn((2, 5, 3), generator=generator, dtype=torch.float64)
    normal = torch.distributions.Normal(means, spread.exp())
    standard = torch.distributions.Normal(torch.zeros_like(means), torch.ones_like(means))
    expected = torch.distributions.kl_divergence(normal, standard).sum(dim=1)
    torch.testing.assert_close(normal_divergence(means, spread.exp()), expected)


def test_decisions_from_a_representation_obey_the_information_bound():
    rng = np.random.default_rng(0)
    for _ in range(200):
        share, rates = rng.uniform(0.05, 0.95), rng.uniform(size=2)
        shares = np.array([share, 1 - share])
        joint = np.array([shares * rates, shares * (1 - rates)])
        product = joint.sum(axis=1, keepdims=True) * shares
        information = float((joint * np.log(joint / product)).sum())
        gap = abs(rates[0] - rates[1])
        assert gap <= math.sqrt(information / (2 * share * (1 - share))) + 1e-12


def test_larger_weight_means_a_smaller_gap():
    X, y, groups = _data(1500)
    # A proxy of the group, by which the encoder can undo the shift between groups.
    X[:, 3] = 2 * groups - 1
    gaps = []
    for weight in (0.01, 1.0):
        model = _small(information_weight=weight).fit(X, y, sensitive_features=groups)
        decisions = model.predict(X)
        gaps.append(abs(decisions[groups == 0].mean() - decisions[groups == 1].mean()))
    assert gaps[1] < gaps[0] / 2


def test_learns_repeats_itself_and_depends_on_no_other_row():
    X, y, groups = _data()
    model = _small().fit(X, y, sensitive_features=groups)
    assert model.score(X, y) > 0.75
    again = clone(model).fit(X, y, sensitive_features=groups)
    np.testing.assert_array_equal(model.predict_proba(X), again.predict_proba(X))
    order = np.random.default_rng(0).permutation(len(X))[:50]
    np.testing.assert_allclose(model.predict_proba(X[order]), model.predict_proba(X)[order])
    doubled = np.repeat(X[:3], 2, axis=0)
    scores = model.predict_proba(doubled)[:, 1]
    np.testing.assert_allclose(scores[0::2], scores[1::2])


def test_sampled_representation_scatters_around_the_mean_by_its_deviation():
    X, y, groups = _data(2000)
    model = _small(n_epochs=3).fit(X, y, sensitive_features=groups)
    sampled = model.represent(X)
    means = model.set_params(representation="mean").represent(X)
    outputs = model.encoder_(torch.tensor(X)).numpy()
    standardised = (sampled - means) / np.logaddexp(0, outputs[:, 1::2])
    np.testing.assert_allclose(means, outputs[:, 0::2], atol=1e-12)
    assert np.abs(standardised.mean(axis=0)).max() < 4 / math.sqrt(len(X))
    assert np.abs(standardised.std(axis=0) - 1).max() < 4 / math.sqrt(len(X))


def test_five_named_groups_frames_and_another_downstream_classifier():
    X, y, groups = _data(300, n_groups=5)
    frame, names = pd.DataFrame(X), np.array([f"g{k}" for k in groups])
    model = _small(n_epochs=2, downstream=KNeighborsClassifier(5), representation="mean")
    model.fit(frame, np.where(y, "yes", "no"), sensitive_features=names)
    assert isinstance(model.downstream_[-1], KNeighborsClassifier)
    np.testing.assert_allclose(model.predict_proba(frame)[:, 1] * 5 % 1, 0, atol=1e-9)
    assert set(model.predict(frame)) <= {"yes", "no"}


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"representation": "noise"}, r"Expected representation to be one of 'sample', 'mean'"),
        ({"information_weight": -1.0}, r"Expected information_weight >= 0"),
        ({"compression_weight": -1.0}, r"Expected compression_weight >= 0"),
        ({"n_components": 0}, r"Expected n_components > 0, got n_components=0"),
    ],
)
def test_parameters_are_checked(parameters, message):
    X, y, groups = _data(60)
    with pytest.raises(InputError, match=message):
        _small(**parameters).fit(X, y, sensitive_features=groups)
