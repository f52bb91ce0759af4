"""Rows of features in forms that a linear model can use without spelling out every entry."""

from fairsmooth.core.rows.coded import CodedRows
from fairsmooth.core.rows.dense import DenseRows
from fairsmooth.core.rows.rows import Block, Rows, spelt_out
from fairsmooth.core.rows.sparse import SparseRows

__all__ = ["Block", "CodedRows", "DenseRows", "Rows", "SparseRows", "spelt_out"]
