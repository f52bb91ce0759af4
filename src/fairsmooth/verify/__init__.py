"""The certificate again, by independent code that uses nothing of ``fairsmooth.core``."""

from fairsmooth.verify._checks import verify
from fairsmooth.verify._graph_file import model_inside
from fairsmooth.verify._json import parse_object
from fairsmooth.verify.check import Check, not_checked
from fairsmooth.verify.graph import SUFFIX
from fairsmooth.verify.guarantee import GuaranteeVerification, verify_guarantee
from fairsmooth.verify.verification import Verification

__all__ = [
    "SUFFIX",
    "Check",
    "GuaranteeVerification",
    "Verification",
    "model_inside",
    "not_checked",
    "parse_object",
    "verify",
    "verify_guarantee",
]
