"""Forecasts of label and group as columns.

``forest`` is trees as arrays, ``boosting`` how they are grown, ``inputs`` what they look at,
``crossfit`` rows that were not seen, ``joint`` from forecasts to columns and back, ``encoder``
what a model file holds, ``learning`` the public face.
"""
