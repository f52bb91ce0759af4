"""Rules for one column of a table, learned from training rows: plain data and what it does."""

from fairsmooth._columns.binned import Binned
from fairsmooth._columns.categories import Categories
from fairsmooth._columns.standardised import Standardised
from fairsmooth._columns.values import is_numeric, numbers

__all__ = ["RULES", "Binned", "Categories", "Rule", "Standardised", "is_numeric", "numbers"]

Rule = Binned | Standardised | Categories
RULES: dict[str, type[Rule]] = {rule.kind: rule for rule in (Binned, Standardised, Categories)}
