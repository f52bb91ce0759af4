"""Rules as a file has them, which nobody vouches for."""

from collections.abc import Mapping
from typing import Any

from fairsmooth import _validate
from fairsmooth.data.columns import RULES, DatePart, Rule


def read_rule(plain: Mapping[str, Any]) -> Rule:
    """Rebuild a rule of any kind, checked."""
    _validate.one_of(RULES, kind=plain["kind"])
    return RULES[plain["kind"]].from_dict(plain)


def rule_key(rule: Rule) -> str:
    """Tell apart rules of one column: only those for parts of a date may share it."""
    return f"{rule.name} {rule.part}" if isinstance(rule, DatePart) else rule.name
