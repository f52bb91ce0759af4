r"""The gradient of Fair Mixup's objective, written out for networks of ReLUs.

Around a row such a network is affine, so that its logit is :math:`q^l \cdot h^l`
plus a constant, :math:`h^l` being the outputs of layer :math:`l` before the ReLUs,
and one backward pass finds :math:`q^l` for values and slopes alike. A pair
:math:`x^0, x^1` mixed to :math:`x^t` has the slope
:math:`\tau = q^1 \cdot W_1 (x^1 - x^0)`: no tangent needs to go forward. With
:math:`a, b` the derivatives of the objective in the logit and in :math:`\tau`, and
:math:`v, \dot v` the activations and their tangents, the gradient of a layer is

.. math:: \sum_i q_i^l \otimes z_i^{l-1}, \qquad z_i = a_i v_i + b_i \dot v_i.

For two hidden layers that is three products of matrices per row or pair, what plain
training takes; forward tangents under automatic differentiation take six per pair.
"""

import torch
from torch import Tensor, nn

from fairsmooth.baselines.fair_mixup.batches import Batch

Layer = tuple[Tensor, Tensor]


class MixupStep:
    r"""Gradient of cross-entropy plus absolute slopes along paths between groups.

    The objective is

    .. math:: \sum_i \bigl[ w_i \log(1 + e^{f_i}) - w_i^1 f_i \bigr] + \lambda
        \sum_{\text{paths}} \Big| \sum_i s_i\, p'(f(x_i^t))\, \tau_i \Big|

    with the weights :math:`w`, :math:`w^1` and shares :math:`s` of a batch.

    Parameters
    ----------
    network : torch.nn.Sequential
        Linear layers with ReLUs between them; one logit per row. Its weights
        move into ``parameters``: a change there is a change of the network.

    Attributes
    ----------
    parameters : Tensor of shape (n_parameters,)
        All weights and biases; ``parameters.grad`` is what a step computes.
    """

    def __init__(self, network: nn.Sequential) -> None:
        tensors = [each.data for each in network.parameters()]
        self.parameters = torch.cat([each.reshape(-1) for each in tensors])
        self.parameters.grad = torch.zeros_like(self.parameters)
        self._layers = _views(self.parameters, tensors)
        self._gradients = _views(self.parameters.grad, tensors)
        self._buffers = Buffers(self.parameters.dtype)
        for own, view in zip(
            network.parameters(), (each for layer in self._layers for each in layer), strict=True
        ):
            own.data = view

    def differentiate(self, batch: Batch, positions: Tensor, penalty_weight: float) -> None:
        """Write the gradient of the objective into ``parameters.grad``.

        Parameters
        ----------
        batch : Batch
            Rows and pairs.
        positions : Tensor of shape (n_paths,)
            Where on its path every pair is mixed, t of x^t = t x^0 + (1 - t) x^1.
        penalty_weight : float
            Weight of every path.
        """
        t = positions[batch.path][:, None]
        hidden, tangents, logits = self._forward(batch, t)
        rows = self._backward(hidden, len(logits))
        n_rows = len(batch.rows)
        slopes = (rows[0][n_rows:] * tangents).sum(dim=1)
        by_logit, by_slope = _derivatives(batch, logits, slopes, penalty_weight, len(positions))
        self._write_first(batch, rows[0], t, by_logit, by_slope)
        self._write_rest(hidden, rows, tangents, by_logit, by_slope)

    def _forward(self, batch: Batch, t: Tensor) -> tuple[list[Tensor], Tensor, Tensor]:
        """Return the hidden activations, the first layer's tangents, and the logits."""
        weight, bias = self._layers[0]
        n_rows, n_pairs, width = len(batch.rows), len(batch.path), len(bias)
        outputs = self._buffers.take("first", n_rows + n_pairs, width)
        own = torch.addmm(bias, batch.rows, weight.T, out=outputs[:n_rows])
        # Mixing commutes with the first layer, which is affine.
        start, end = (
            torch.index_select(own, 0, side, out=self._buffers.take(name, n_pairs, width))
            for name, side in (("start", batch.start), ("end", batch.end))
        )
        tangents = torch.sub(end, start, out=start)
        torch.addcmul(end, tangents, t, value=-1, out=outputs[n_rows:])
        hidden: list[Tensor] = []
        for number, (weight, bias) in enumerate(self._layers[1:]):
            hidden.append(outputs.relu_())
            outputs = self._buffers.take(f"layer {number}", len(outputs), len(bias))
            torch.addmm(bias, hidden[-1], weight.T, out=outputs)
        return hidden, tangents, outputs[:, 0]

    def _backward(self, hidden: list[Tensor], n_rows: int) -> list[Tensor]:
        """Return the derivative of the logit in the outputs of each hidden layer.

        In the last hidden layer it is ReLU's derivative times the last layer's
        weights; the second factor is left out there unless it is the only one.
        """
        if not hidden:
            return [self.parameters.new_ones(n_rows, 1)]
        last = self._layers[-1][0][0]
        active = self._buffers.take("active", *hidden[-1].shape)
        rows = [torch.sign(hidden[-1], out=active)]
        if len(hidden) == 1:
            return [rows[0].mul_(last)]
        for number in range(len(hidden) - 1, 0, -1):
            weight = self._layers[number][0]
            through = weight * last[:, None] if len(rows) == 1 else weight
            below = self._buffers.take(f"backward {number}", n_rows, weight.shape[1])
            torch.mm(rows[0], through, out=below)
            rows.insert(0, _where_active(below, hidden[number - 1]))
        return rows

    def _write_first(
        self, batch: Batch, rows: Tensor, t: Tensor, by_logit: Tensor, by_slope: Tensor
    ) -> None:
        n_rows = len(batch.rows)
        weight, bias = self._gradients[0]
        torch.mv(rows.T, by_logit, out=bias)
        ours = torch.mul(
            rows[:n_rows],
            by_logit[:n_rows, None],
            out=self._buffers.take("of rows", n_rows, rows.shape[1]),
        )
        mixed, turned = by_logit[n_rows:, None], by_slope[:, None]
        scaled = self._buffers.take("of pairs", len(by_slope), rows.shape[1])
        for side, factor in (
            (batch.start, t * mixed - turned),
            (batch.end, mixed - t * mixed + turned),
        ):
            ours.index_add_(0, side, torch.mul(rows[n_rows:], factor, out=scaled))
        torch.mm(ours.T, batch.rows, out=weight)

    def _write_rest(
        self,
        hidden: list[Tensor],
        rows: list[Tensor],
        tangents: Tensor,
        by_logit: Tensor,
        by_slope: Tensor,
    ) -> None:
        if not hidden:
            return
        n_rows = len(by_logit) - len(by_slope)
        inputs = torch.mul(
            hidden[0], by_logit[:, None], out=self._buffers.take("inputs 0", *hidden[0].shape)
        )
        inputs[n_rows:].addcmul_(_where_active(tangents, hidden[0][n_rows:]), by_slope[:, None])
        last_gradient, last_bias = self._gradients[-1]
        torch.sum(by_logit, dim=0, keepdim=True, out=last_bias)
        if len(hidden) == 1:
            torch.sum(inputs, dim=0, keepdim=True, out=last_gradient)
        for number in range(1, len(hidden)):
            weight, bias = self._layers[number]
            of_weight, of_bias = self._gradients[number]
            torch.mm(rows[number].T, inputs, out=of_weight)
            torch.mv(rows[number].T, by_logit, out=of_bias)
            if number < len(hidden) - 1:
                outputs = self._buffers.take(f"inputs {number}", *hidden[number].shape)
                torch.mm(inputs, weight.T, out=outputs).addcmul_(by_logit[:, None], bias)
                inputs = _where_active(outputs, hidden[number])
                continue
            # The last hidden layer's activations, weighted and summed over rows, are
            # its weights applied to what has just been summed.
            last = self._layers[-1][0][0]
            torch.sum(weight * of_weight, dim=1, out=last_gradient[0])
            last_gradient[0].addcmul_(bias, of_bias)
            of_weight.mul_(last[:, None])
            of_bias.mul_(last)


class Buffers:
    """Memory that every step uses again: a fresh matrix costs more than filling it."""

    def __init__(self, dtype: torch.dtype) -> None:
        self._dtype = dtype
        self._kept: dict[str, Tensor] = {}

    def take(self, name: str, n_rows: int, n_columns: int) -> Tensor:
        """Return a matrix of any content on the memory kept under a name."""
        size = n_rows * n_columns
        if name not in self._kept or self._kept[name].numel() < size:
            self._kept[name] = torch.empty(size, dtype=self._dtype)
        return self._kept[name][:size].view(n_rows, n_columns)


def _derivatives(
    batch: Batch, logits: Tensor, slopes: Tensor, penalty_weight: float, n_paths: int
) -> tuple[Tensor, Tensor]:
    """Return the objective's derivatives in the logits and in the slopes of logits."""
    n_rows = len(batch.rows)
    p = torch.sigmoid(logits)
    mixed = p[n_rows:]
    steepness = batch.shares * mixed * (1 - mixed)
    means = p.new_zeros(n_paths).index_add_(0, batch.path, steepness * slopes)
    by_slope = steepness * (penalty_weight * means.sign())[batch.path]
    of_rows = batch.weights * p[:n_rows] - batch.positives
    return torch.cat([of_rows, by_slope * (1 - 2 * mixed) * slopes]), by_slope


def _where_active(values: Tensor, activations: Tensor) -> Tensor:
    """Set values to 0 where a ReLU's output is 0."""
    torch.ops.aten.threshold_backward.grad_input(values, activations, 0, grad_input=values)
    return values


def _views(flat: Tensor, like: list[Tensor]) -> list[Layer]:
    parts = flat.split([each.numel() for each in like])
    shaped = [part.view(each.shape) for part, each in zip(parts, like, strict=True)]
    return list(zip(shaped[::2], shaped[1::2], strict=True))
