"""The same sample under shift: reweightings, worst cases, curves."""
