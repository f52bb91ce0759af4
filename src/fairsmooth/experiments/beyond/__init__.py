"""Experiments that the paper does not have; found by presence, run when asked for by name."""
