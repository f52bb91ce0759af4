"""The certificate again, by independent code that uses nothing of ``fairsmooth.core``."""

from fairsmooth.verify._checks import verify
from fairsmooth.verify.check import Check, not_checked
from fairsmooth.verify.verification import Verification

__all__ = ["Check", "Verification", "not_checked", "verify"]
