"""Rules for one column of a table, learned from training rows: plain data and what it does."""

from fairsmooth.data.columns.binned import Binned
from fairsmooth.data.columns.categories import Categories
from fairsmooth.data.columns.codes import MISSING, UNKNOWN, Codes
from fairsmooth.data.columns.dates import DatePart
from fairsmooth.data.columns.standardised import Standardised

__all__ = [
    "MISSING",
    "RULES",
    "UNKNOWN",
    "Binned",
    "Categories",
    "Codes",
    "DatePart",
    "Rule",
    "Standardised",
]

Rule = Binned | Standardised | Categories | DatePart
RULES: dict[str, type[Rule]] = {
    rule.kind: rule for rule in (Binned, Standardised, Categories, DatePart)
}
