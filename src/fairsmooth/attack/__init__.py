"""Attack a certificate: look for the input with the largest gap."""

from fairsmooth.attack.result import AttackResult
from fairsmooth.attack.search import attack
from fairsmooth.attack.target import Target

__all__ = ["AttackResult", "Target", "attack"]
