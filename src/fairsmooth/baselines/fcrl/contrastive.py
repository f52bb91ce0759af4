"""What FCRL trains: an encoder, and two estimates of what it lets through."""

import torch
from torch import Tensor, nn

from fairsmooth.baselines._kit.neural import build_mlp

INSIDE_LOGARITHMS = 1e-8


def contrastive_information(affinities: Tensor, codes: Tensor) -> Tensor:
    r"""Estimate :math:`I(x; z \mid c)` from below, one term per row.

    The term of row i is :math:`\log s_{ii} - \log \mathrm{mean}_{j:\, c_j =
    c_i} s_{ij}`, the negatives being the rows of the same group, itself
    included. For independent rows its expectation is at most the conditional
    information, whatever the affinities, and at most the logarithm of the
    number of rows of the group.

    Parameters
    ----------
    affinities : Tensor of shape (n, n)
        :math:`s_{ij} \ge 0` of row i and representation j.
    codes : Tensor of shape (n,)
        Group of every row.

    Examples
    --------
    >>> scores = torch.tensor([[3.0, 1.0, 9.0], [1.0, 3.0, 9.0], [9.0, 9.0, 1.0]])
    >>> contrastive_information(scores, torch.tensor([0, 0, 1])).exp()
    tensor([1.5000, 1.5000, 1.0000])
    """
    same = (codes[:, None] == codes[None, :]).to(affinities.dtype)
    contrast = (affinities * same).sum(dim=1) / same.sum(dim=1)
    matched = affinities.diagonal()
    return (matched + INSIDE_LOGARITHMS).log() - (contrast + INSIDE_LOGARITHMS).log()


def normal_divergence(means: Tensor, deviations: Tensor) -> Tensor:
    r"""Return :math:`\mathrm{KL}(N(\mu, \mathrm{diag}\, s^2) \,\|\, N(0, I))` of every row.

    Its mean over rows is at least :math:`I(x; z)`, with equality where z is
    standard normal over all rows together.

    Examples
    --------
    >>> normal_divergence(torch.tensor([[1.0, 0.0]]), torch.tensor([[1.0, 1.0]]))
    tensor([0.5000])
    """
    return 0.5 * (means.square() + deviations.square() - 1.0).sum(dim=1) - deviations.log().sum(
        dim=1
    )


class FairRepresentation(nn.Module):
    """Encoder, critic and predictor, all drawn from one generator.

    Parameters
    ----------
    n_features, n_groups : int
        Columns of the rows and number of groups.
    n_components : int
        Dimension of the representation.
    hidden_size : int
        Width of every hidden layer.
    generator : torch.Generator
        Where the initial weights come from.
    """

    def __init__(
        self,
        n_features: int,
        n_groups: int,
        *,
        n_components: int,
        hidden_size: int,
        generator: torch.Generator,
    ) -> None:
        super().__init__()
        z, hidden = n_components, hidden_size
        self.encoder = build_mlp((n_features, hidden, 2 * z), generator=generator)
        self.row_critic = build_mlp((n_features, hidden, z), generator=generator)
        self.code_critic = build_mlp((z, z), generator=generator)
        self.couplings = nn.Parameter(torch.randn((n_groups, z, z), generator=generator))
        self.predictor = build_mlp((z + n_groups, hidden, 1), generator=generator)

    def encode(self, rows: Tensor) -> tuple[Tensor, Tensor]:
        """Return means and deviations of the representation, each (n, n_components)."""
        outputs = self.encoder(rows)
        return outputs[:, 0::2], nn.functional.softplus(outputs[:, 1::2])

    def affinities(self, rows: Tensor, sample: Tensor, codes: Tensor) -> Tensor:
        """Return how well every row fits every representation, shape (n, n)."""
        coupled = torch.einsum("ni,nij->nj", self.row_critic(rows), self.couplings[codes])
        return nn.functional.softplus(coupled @ self.code_critic(sample).mT)

    def logits(self, sample: Tensor, codes: Tensor) -> Tensor:
        """Return the logit of the label, given representation and group."""
        one_hot = nn.functional.one_hot(codes, len(self.couplings)).to(sample.dtype)
        logits: Tensor = self.predictor(torch.cat([sample, one_hot], dim=1)).squeeze(1)
        return logits


def fair_loss(
    networks: FairRepresentation,
    rows: Tensor,
    labels: Tensor,
    codes: Tensor,
    noise: Tensor,
    *,
    information_weight: float,
    compression_weight: float,
) -> Tensor:
    r"""Return FCRL's objective on a batch, the definition that training follows.

    It is :math:`\mathrm{CE}(y \mid z, c) + \beta\, \mathrm{KL} - \lambda\, \hat I` with
    :math:`z = \mu + s \odot` noise. Training takes its gradient from
    :class:`~fairsmooth.baselines.fcrl.step.FairStep`, which spells out the derivative.

    Parameters
    ----------
    networks : FairRepresentation
        Encoder, critic and predictor.
    rows, labels, codes : Tensor of shape (m, d), (m,) and (m,)
        The batch: features, labels 0 and 1, groups.
    noise : Tensor of shape (m, n_components)
        Standard normal.
    information_weight, compression_weight : float
        :math:`\lambda` and :math:`\beta`.
    """
    means, deviations = networks.encode(rows)
    sample = means + deviations * noise
    error = nn.functional.binary_cross_entropy_with_logits(networks.logits(sample, codes), labels)
    compression = normal_divergence(means, deviations).mean()
    information = contrastive_information(networks.affinities(rows, sample, codes), codes).mean()
    return error + compression_weight * compression - information_weight * information
