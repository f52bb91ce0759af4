"""Architectures from the outside: chosen by arguments, started, written as plain data."""
