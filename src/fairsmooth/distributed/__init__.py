"""Engines for more than one process: torch.distributed for one training, Dask for many jobs.

Thin: what is added up, and what a job is, is said by the rooms that know; nothing is imported
before it is asked for.
"""
