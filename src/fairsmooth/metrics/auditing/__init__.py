"""The audit of a classifier on a sample: records, statements, what the tie cost."""
