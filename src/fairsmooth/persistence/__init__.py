"""One safe file per model: plain JSON and tensors, no pickle."""

from fairsmooth.persistence.model_file import SavedModel, load, read_model, save

__all__ = ["SavedModel", "load", "read_model", "save"]
