import pytest
import torch

from fairsmooth.training.parity import parity_penalty, soft_decisions


def rows(n=4000, shift=0.5, seed=0):
    generator = torch.Generator().manual_seed(seed)
    margins = [torch.randn(n, generator=generator, dtype=torch.float64) + s for s in (0.0, shift)]
    labels = [(torch.rand(n, generator=generator) < 0.5).double() for _ in margins]
    return [torch.special.ndtr(m) for m in margins], labels


def hard_gap(scores, chosen=None):
    rates = [
        (s > 0.5).double()[c > 0].mean() if chosen is not None else (s > 0.5).double().mean()
        for s, c in zip(scores, chosen or scores, strict=True)
    ]
    return (rates[0] - rates[1]).abs()


def test_soft_decisions_approach_hard_ones():
    scores = torch.linspace(0.01, 0.99, 99, dtype=torch.float64)
    scores = scores[(scores - 0.5).abs() > 0.005]
    sharp = soft_decisions(scores, bandwidth=1e-3)
    torch.testing.assert_close(sharp, (scores > 0.5).double(), atol=1e-6, rtol=0)
    moved = soft_decisions(scores, threshold=0.8, bandwidth=1e-3)
    assert moved[scores < 0.79].max() < 1e-6


def test_scores_of_0_and_1_have_finite_gradients():
    scores = torch.tensor([0.0, 1.0, 0.5], requires_grad=True)
    soft_decisions(scores).sum().backward()
    assert torch.isfinite(scores.grad).all()


def test_the_surrogate_follows_the_measured_gap():
    for shift in (0.2, 0.5, 1.0):
        scores, labels = rows(shift=shift)
        surrogate = parity_penalty(scores, labels, parity="demographic_parity")
        assert abs(float(surrogate - hard_gap(scores))) < 0.04


def test_equalized_odds_adds_both_labels():
    scores, labels = rows()
    odds = parity_penalty(scores, labels, parity="equalized_odds")
    hard = hard_gap(scores, labels) + hard_gap(scores, [1 - y for y in labels])
    assert abs(float(odds - hard)) < 0.08
    both = parity_penalty(scores, labels, parity="both")
    parity = parity_penalty(scores, labels, parity="demographic_parity")
    torch.testing.assert_close(both, odds + parity)


def test_what_is_tolerated_is_hardly_penalised():
    scores, labels = rows(shift=0.3)
    gap = float(parity_penalty(scores, labels, parity="demographic_parity"))
    tolerated = parity_penalty(
        scores, labels, parity="demographic_parity", tolerance=(gap + 0.1, 0.0)
    )
    assert float(tolerated) < 1e-5


def test_more_than_two_groups_average_over_pairs():
    scores, labels = rows(shift=1.0)
    three = parity_penalty([*scores, scores[0]], [*labels, labels[0]], parity="demographic_parity")
    two = parity_penalty(scores, labels, parity="demographic_parity")
    assert 0.5 * float(two) < float(three) < float(two)


def test_a_batch_that_lacks_a_label_is_passed_over():
    scores, labels = rows(n=10)
    labels[0] = torch.zeros(10, dtype=torch.float64)
    penalty = parity_penalty(scores, labels, parity="equalized_odds")
    assert torch.isfinite(penalty)


def test_gradient_against_finite_differences():
    scores, labels = rows(n=6)
    inputs = tuple(s.requires_grad_() for s in scores)
    assert torch.autograd.gradcheck(
        lambda *s: parity_penalty(s, labels, parity="both", tolerance=(0.02, 0.02)), inputs
    )


def test_each_gap_has_a_tolerance_of_its_own():
    scores, labels = rows(shift=0.3)

    def penalty(parity, tolerance):
        return float(parity_penalty(scores, labels, parity=parity, tolerance=tolerance))

    for parity, tolerated, other in (
        ("demographic_parity", (9.0, 0.0), (0.0, 9.0)),
        ("equalized_odds", (0.0, 9.0), (9.0, 0.0)),
    ):
        assert penalty(parity, tolerated) < 1e-9
        assert penalty(parity, other) == penalty(parity, (0.0, 0.0)) > 0.01
    assert penalty("both", (9.0, 9.0)) < 1e-9


def test_a_gap_among_either_label_counts():
    scores, labels = rows(shift=0.0)
    margins = torch.special.ndtri(scores[1])
    for label in (0.0, 1.0):
        moved = [scores[0], torch.special.ndtr(margins + 1.0 * (labels[1] == label))]
        hard = hard_gap(moved, [(y == label).double() for y in labels])
        penalty = float(parity_penalty(moved, labels, parity="equalized_odds"))
        assert hard > 0.3
        assert abs(penalty - float(hard)) < 0.06


@pytest.mark.parametrize("parity", ["equalized_odds", "both"])
def test_a_batch_without_a_single_row_of_a_label_has_no_gap_there(parity):
    scores = [torch.tensor([0.2, 0.4], requires_grad=True), torch.tensor([0.9])]
    negative = [torch.zeros(2), torch.zeros(1)]
    found = parity_penalty(scores, negative, parity=parity)
    # The gap of false positive rates alone, and the same again for selection rates.
    assert found.item() == pytest.approx(1.0 if parity == "equalized_odds" else 2.0, abs=0.05)
    assert torch.isfinite(torch.autograd.grad(found, scores[0])[0]).all()
