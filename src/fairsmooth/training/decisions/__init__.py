"""The most accurate rule whose hard decisions keep limits on the gaps between groups."""
