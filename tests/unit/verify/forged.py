"""Model files are written here by a small writer of our own, not by the library's."""

import hashlib
import json
import struct
from itertools import pairwise

import numpy as np
from safetensors.numpy import save_file

import fairsmooth
from fairsmooth.core.certificate import certify
from fairsmooth.core.parameters import CENTERS
from fairsmooth.verify import verify

NUMBERS = ("max_distance", "epsilon", "epsilon_tight")

LISTS = ("distances", "epsilon_by_group", "epsilon_linear_by_group")


def canonical(plain):
    return json.dumps(
        plain, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False
    )


def digest(text, tensors):
    sha = hashlib.sha256(text.encode())
    for name in sorted(tensors):
        shape = ",".join(map(str, tensors[name].shape))
        sha.update(f"{name}\0float64\0{shape}\0".encode() + tensors[name].tobytes())
    return sha.hexdigest()


def model(n_groups=3, hidden=(), sigma=0.5, center="mean", seed=0, scale=1.0):
    rng = np.random.default_rng(seed)
    n_features = 4
    widths = (n_features, *hidden, 1)
    m = sum(b * (a + 1) for a, b in pairwise(widths))
    weights = scale * rng.normal(size=(n_groups, m))
    groups = [f"grüppe {k}" for k in range(n_groups)]
    tensors = {"group_parameters": weights, "parameters": CENTERS[center](weights)}
    certificate = certify(weights, sigma=sigma, groups=groups, center=center)
    plain = {
        "format": 2,
        "library": fairsmooth.__version__,
        "architecture": {
            "kind": "network",
            "n_features": n_features,
            "hidden_layer_sizes": list(hidden),
            "activation": "relu",
        },
        "link": "logistic",
        "sigma": sigma,
        "center": center,
        "threshold": 0.5,
        "groups": groups,
        "smoothing": {"method": "auto", "n_draws": 4096},
        "classes": [0, 1],
        "features": {"count": n_features, "names": None},
        "certificate": certificate.to_dict(),
        "parameters": {
            "sigma": sigma,
            "link": "logistic",
            "center": center,
            "alpha": 0.25,
            "smoothing": "auto",
            "n_draws": 4096,
        },
        "encoder": None,
        "table": None,
        "guarantee": None,
    }
    return plain, tensors


def as_format_1(plain):
    new = ("smoothing", "guarantee", "table")
    old = {name: value for name, value in plain.items() if name not in new}
    return {**old, "format": 1, "training": plain["table"] or {}}


def write(path, plain, tensors, *, text=None):
    text = canonical(plain) if text is None else text
    metadata = {"fairsmooth": text, "digest": digest(text, tensors)}
    save_file(tensors, path, metadata=metadata)
    return path


def write_raw(path, header, body=b""):
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(text)) + text + body)
    return path


def failures(path):
    verification = verify(path)
    assert not verification.holds
    assert all("\n" not in check.detail for check in verification.checks)
    return {check.name: check.detail for check in verification.failures}
