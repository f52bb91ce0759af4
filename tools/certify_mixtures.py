"""Find from which scale on how few normals serve the logistic link, and prove their errors.

The error of a rule at scale s is a function R of the mean whose derivative has the Fourier
transform D(w) = exp(-s²w²/2) (sum of the rule's exp(-v w²/2) - πw/sinh πw). On the whole line
max R² <= |R| |R'| in L², which by Parseval is (1/π) sqrt(∫D²/w² ∫D²) over w > 0. Both integrands
are analytic for |Im w| < 1, so the midpoint rule gives them with an error that is proven and
far below them. D shrinks with s, so the bound at the least scale holds for all larger ones.

    python tools/certify_mixtures.py       # the table of core/smoothing/mixtures.py
"""

import math

import mpmath

from fairsmooth.core.smoothing.mixtures import Rule

# Least errors that the two tables allow, and the numbers of normals tried.
WANTED = {
    "FINE": (2.5e-10, (14, 10, 7, 5, 4, 3, 2)),
    "COARSE": (1e-6, (7, 5, 4, 3, 2, 1)),
}
_HALF_STRIP = 0.5


def proven_error(rule: Rule) -> float:
    """Bound the rule's error over all means and all scales from its own on."""
    mpmath.mp.dps = 40
    variances, weights = ([mpmath.mpf(float(v)) for v in part] for part in rule.normals)
    missing = 1 - mpmath.fsum(weights)
    weights[0] += missing  # R must vanish at infinity; what was missing is added at the end
    scale = mpmath.mpf(rule.scale)
    step = mpmath.mpf(1) / (20 * (1 + math.ceil(rule.scale)))
    end = 14 / (1 + scale) if scale > 1 else 14 / mpmath.sqrt(scale**2 + min(variances) / 4)

    def difference(w: mpmath.mpf) -> mpmath.mpf:
        own = mpmath.fsum(
            b * mpmath.exp(-v * w * w / 2) for v, b in zip(variances, weights, strict=True)
        )
        return mpmath.exp(-((scale * w) ** 2) / 2) * (
            own - mpmath.pi * w / mpmath.sinh(mpmath.pi * w)
        )

    nodes = [(k + mpmath.mpf(1) / 2) * step for k in range(int(end / step) + 1)]
    squares = [difference(w) ** 2 for w in nodes]
    extra = _strip_error(scale, variances, step) + _tail(scale, min(variances), nodes[-1])
    slope = step * mpmath.fsum(squares) + extra
    level = step * mpmath.fsum(d / w**2 for d, w in zip(squares, nodes, strict=True)) + extra
    bound = mpmath.sqrt(mpmath.sqrt(slope * level) / mpmath.pi) + 2 * abs(missing)
    return float(bound)


def _strip_error(scale: mpmath.mpf, variances: list[mpmath.mpf], step: mpmath.mpf) -> mpmath.mpf:
    """Bound the midpoint rule's error: 2M/(exp(2πd/h) - 1), M the integral along Im w = d.

    There |exp(-v w²/2)| = exp(v(d² - x²)/2), |πw/sinh πw| <= π|w|/cosh πx, and 1/|w|² <= 1/d².
    """
    d = mpmath.mpf(_HALF_STRIP)
    growth = mpmath.exp(d * d * (scale**2 + max(variances)))
    own = mpmath.sqrt(mpmath.pi / min(variances))
    link = 4  # ∫ (π|w|/cosh πx)² dx at d = 1/2
    most = growth * 2 * (own + link) / d**2
    return 2 * most / mpmath.expm1(2 * mpmath.pi * d / step)


def _tail(scale: mpmath.mpf, variance: mpmath.mpf, end: mpmath.mpf) -> mpmath.mpf:
    """Bound the integral of D² (and of D²/w², as end > 1 or D tiny) beyond the last node."""
    link = 8 * end * mpmath.exp(-mpmath.pi * end) if end >= 0.25 else 1
    most = mpmath.exp(-variance * end**2 / 2) + link
    most = most * mpmath.exp(-((scale * end) ** 2) / 2)
    return most**2 * 20 / min(end, 1) ** 2


def least_scale(n_nodes: int, wanted: float) -> float:
    """Return the least scale, to three digits, from which on so few normals suffice."""
    if proven_error(Rule(0.0, n_nodes, wanted)) <= wanted:
        return 0.0
    low, high = 1e-3, 200.0
    while high / low > 1.002:
        middle = math.sqrt(low * high)
        if proven_error(Rule(middle, n_nodes, wanted)) <= wanted:
            high = middle
        else:
            low = middle
    digits = 10.0 ** (2 - math.floor(math.log10(high)))
    return math.ceil(high * digits) / digits


def main() -> None:
    for name, (wanted, counts) in WANTED.items():
        print(f"{name} = (")
        for n_nodes in counts:
            scale = least_scale(n_nodes, wanted)
            assert proven_error(Rule(scale, n_nodes, wanted)) <= wanted
            print(f"    Rule({scale}, {n_nodes}, {wanted}),")
        print(")")


if __name__ == "__main__":
    main()
