"""The mathematics: tensors in, tensors out; no I/O, no logging, no scikit-learn."""
