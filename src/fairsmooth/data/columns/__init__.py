"""Rules for one column of a table, learned from training rows: plain data and what it does."""

from fairsmooth.data.columns.binned import Binned
from fairsmooth.data.columns.categories import Categories
from fairsmooth.data.columns.standardised import Standardised
from fairsmooth.data.columns.values import is_numeric, numbers

__all__ = ["RULES", "Binned", "Categories", "Rule", "Standardised", "is_numeric", "numbers"]

Rule = Binned | Standardised | Categories
RULES: dict[str, type[Rule]] = {rule.kind: rule for rule in (Binned, Standardised, Categories)}
