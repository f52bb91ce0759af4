"""How far a rate moves in a ball of distributions, enclosed by ball arithmetic."""

from dataclasses import dataclass

from flint import arb

NONE = "none"


@dataclass(frozen=True)
class Shift:
    """A divergence and a radius; :data:`NONE` is no shift at all."""

    divergence: str = NONE
    radius: float = 0.0

    def rise(self, q: arb) -> arb:
        """Enclose the largest rate."""
        if self.divergence == "total_variation":
            moved = q + arb(self.radius)
        elif self.divergence == "hellinger":
            angle = q.sqrt().asin() + self._turn()
            moved = _least(angle, arb.pi() / 2).sin() ** 2
        elif self.divergence == "chi_square":
            moved = q + (arb(self.radius) * q * (1 - q)).sqrt()
        elif self.divergence == "density_ratio":
            moved = q * (1 + arb(self.radius))
        else:
            moved = q
        return _least(moved, arb(1))

    def fall(self, q: arb) -> arb:
        """Enclose the least rate."""
        return 1 - self.rise(1 - q)

    def rise_inverse(self, y: arb) -> arb:
        """Enclose the least rate that rises to ``y``, for ``y`` in [0, 1]."""
        radius = arb(self.radius)
        if self.divergence == "total_variation":
            moved = y - radius
        elif self.divergence == "hellinger":
            moved = _largest(y.sqrt().asin() - self._turn(), arb(0)).sin() ** 2
        elif self.divergence == "chi_square":
            root = (radius**2 + 4 * radius * y * (1 - y)).sqrt()
            moved = (2 * y + radius - root) / (2 * (1 + radius))
        elif self.divergence == "density_ratio":
            moved = y / (1 + radius)
        else:
            moved = y
        return _largest(moved, arb(0))

    def _turn(self) -> arb:
        return (1 - arb(self.radius) ** 2).acos()


def _least(a: arb, b: arb) -> arb:
    return a.min(b)


def _largest(a: arb, b: arb) -> arb:
    return a.max(b)
