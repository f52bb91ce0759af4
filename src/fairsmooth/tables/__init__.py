"""Models of tables: what the command line and a notebook both use."""

from fairsmooth.tables.model import TableModel
from fairsmooth.tables.provenance import Provenance

__all__ = ["Provenance", "TableModel"]
