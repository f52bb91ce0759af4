"""Altering a model file and signing it again, as someone who knows the format would."""

import json

from safetensors import safe_open
from safetensors.numpy import load_file, save_file

from fairsmooth.persistence.layout import canonical, digest


def rewrite(path, change):
    with safe_open(path, framework="numpy") as file:
        plain = json.loads(file.metadata()["fairsmooth"])
    tensors = load_file(path)
    change(plain, tensors)
    text = canonical(plain)
    save_file(tensors, path, metadata={"fairsmooth": text, "digest": digest(text, tensors)})
    return path
