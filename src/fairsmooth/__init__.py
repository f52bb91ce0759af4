"""Classifiers with an input-agnostic group fairness certificate."""

__version__ = "0.1.0"
