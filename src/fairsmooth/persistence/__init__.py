"""One safe file per model: plain JSON and tensors, no pickle; the only room that knows the layout.

``layout`` is the bytes, ``versions`` the formats, ``description`` the one reader of what a
file says, ``contents`` the file as a whole, ``model_file`` the way from and to a classifier.
"""

from typing import TYPE_CHECKING, Any

from fairsmooth.persistence.contents import file_digest, read_certificate, read_contents

if TYPE_CHECKING:
    from fairsmooth.persistence.model_file import SavedModel, load, model_digest, read_model, save

__all__ = [
    "SavedModel",
    "file_digest",
    "load",
    "model_digest",
    "read_certificate",
    "read_contents",
    "read_model",
    "save",
]


def __getattr__(name: str) -> Any:
    # Loaded when asked for: reading a certificate should not wait for torch.
    if name in ("SavedModel", "load", "model_digest", "read_model", "save"):
        from fairsmooth.persistence import model_file

        return getattr(model_file, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
