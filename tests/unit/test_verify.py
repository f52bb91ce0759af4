"""Model files are written here by a small writer of our own, not by the library's."""

import ast
import hashlib
import json
import math
import struct
import time
from fractions import Fraction
from itertools import pairwise
from pathlib import Path

import mpmath
import numpy as np
import pytest
from safetensors.numpy import save_file

import fairsmooth
from fairsmooth.core.certificate import certify
from fairsmooth.core.parameters import CENTERS
from fairsmooth.verify import Check, Verification, verify
from fairsmooth.verify._bounds import DISTANCE, LIPSCHITZ, TOTAL_VARIATION
from fairsmooth.verify._exact import measure

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
        "format": 1,
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
        "classes": [0, 1],
        "certificate": certificate.to_dict(),
        "parameters": {"sigma": sigma, "link": "logistic", "center": center, "alpha": 0.25},
        "encoder": None,
        "training": {},
    }
    return plain, tensors


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


@pytest.fixture
def path(tmp_path):
    return tmp_path / "model"


@pytest.mark.parametrize("center", ["mean", "ball"])
@pytest.mark.parametrize("hidden", [(), (5,), (6, 3)])
@pytest.mark.parametrize("n_groups", [1, 2, 5])
def test_honest_files_hold(path, n_groups, hidden, center):
    verification = verify(write(path, *model(n_groups, hidden, center=center)))
    assert verification.holds, str(verification)
    assert len(str(verification).splitlines()) == len(verification.checks) == 11


@pytest.mark.parametrize("sigma", [1e-300, 1e-3, 1.0, 1e6, 1e300])
@pytest.mark.parametrize("scale", [1e-320, 1e-310, 1e-160, 1e-8, 1.0, 1e8, 1e160, 1e307])
def test_honest_files_hold_at_every_magnitude(path, sigma, scale):
    for seed in range(4):
        plain, tensors = model(4, sigma=sigma, scale=scale, seed=seed)
        verification = verify(write(path, plain, tensors))
        assert verification.holds, str(verification)


def test_identical_groups_need_no_noise(path):
    plain, tensors = model(3, sigma=0.0, scale=0.0)
    assert plain["certificate"]["epsilon"] == 0.0
    assert verify(write(path, plain, tensors)).holds


def test_without_noise_only_no_bound_is_true(path):
    plain, tensors = model(3, sigma=0.0)
    assert plain["certificate"]["epsilon"] is None
    assert verify(write(path, plain, tensors)).holds
    plain["certificate"]["epsilon"] = 1e300
    plain["certificate"]["epsilon_tight"] = math.nextafter(1.0, 0.0)
    assert set(failures(write(path, plain, tensors))) == {"epsilon", "epsilon_tight"}


def rigorous(tensors, sigma, name, k):
    """The value in mpmath with 60 digits, by the plain formula."""
    mpmath.mp.dps = 60
    groups = [[mpmath.mpf(v) for v in row] for row in tensors["group_parameters"].tolist()]
    overall = [mpmath.mpf(v) for v in tensors["parameters"].tolist()]

    def distance(a, b):
        return mpmath.sqrt(mpmath.fsum((x - y) ** 2 for x, y in zip(a, b, strict=True)))

    radii = [distance(row, overall) for row in groups]
    largest = max(distance(a, b) for a in groups for b in groups)
    unit = mpmath.sqrt(2 * mpmath.pi) * mpmath.mpf(sigma)
    tight = [2 * mpmath.ncdf(r / (2 * mpmath.mpf(sigma))) - 1 for r in radii]
    n = len(groups)
    return {
        "max_distance": largest,
        "epsilon": max((n - 1) * largest / n, *radii) / unit,
        "epsilon_tight": max(tight),
        "distances": radii[k],
        "epsilon_by_group": tight[k],
        "epsilon_linear_by_group": radii[k] / unit,
    }[name]


def neighbours(value):
    """The two floats around a real number that no float equals."""
    nearest = float(value)
    if mpmath.mpf(nearest) >= value:
        return math.nextafter(nearest, -math.inf), nearest
    return nearest, math.nextafter(nearest, math.inf)


@pytest.mark.parametrize("name", [*NUMBERS, *LISTS])
@pytest.mark.parametrize("seed", range(5))
def test_the_last_digit_decides(path, name, seed):
    sigma, k = 0.3 + 0.1 * seed, seed % 3
    plain, tensors = model(3, (2,), sigma=sigma, seed=seed, scale=0.2)
    below, above = neighbours(rigorous(tensors, sigma, name, k))
    certificate = plain["certificate"]
    for number, accepted in ((below, False), (above, True)):
        if name in LISTS:
            certificate[name][k] = number
        else:
            certificate[name] = number
        write(path, plain, tensors)
        if accepted:
            assert verify(path).holds
        else:
            assert set(failures(path)) == {name}


def test_a_distance_that_is_a_float_is_accepted_exactly(path):
    plain, tensors = model(2)
    tensors["group_parameters"] = np.array([[3.0, 0, 0, 0, 1], [-3.0, 0, 0, 8, 1]])
    tensors["parameters"] = tensors["group_parameters"].mean(axis=0)
    plain["certificate"] |= certify(
        tensors["group_parameters"], sigma=0.5, groups=plain["groups"]
    ).to_dict()
    plain["certificate"] |= {"max_distance": 10.0, "distances": [5.0, 5.0]}
    assert verify(write(path, plain, tensors)).holds
    plain["certificate"]["max_distance"] = math.nextafter(10.0, 0.0)
    assert set(failures(write(path, plain, tensors))) == {"max_distance"}


def test_exact_distances_against_fractions():
    rng = np.random.default_rng(1)
    for _ in range(30):
        weights = rng.normal(size=(3, 7)) * 10.0 ** rng.uniform(-320, 300, size=(3, 7))
        weights[rng.random(weights.shape) < 0.2] = 0.0
        overall = CENTERS["mean"](weights)
        geometry = measure(weights, overall)
        rows = [[Fraction(v) for v in row] for row in [*weights.tolist(), overall.tolist()]]
        square = [
            [sum((x - y) ** 2 for x, y in zip(a, b, strict=True)) for b in rows] for a in rows
        ]
        assert geometry.squared_radii == tuple(square[3][:3])
        assert geometry.squared_max_distance == max(max(row[:3]) for row in square[:3])
        assert geometry.is_mean


def test_bounds_are_decided_for_perfect_squares_and_extremes():
    rng = np.random.default_rng(2)
    for number in (10.0 ** rng.uniform(-300, 300, size=300)).tolist():
        assert DISTANCE.admits(number, Fraction(number) ** 2, sigma=1.0)
        below = math.nextafter(number, 0.0)
        assert not DISTANCE.admits(below, Fraction(number) ** 2, sigma=1.0)
    far = Fraction(10) ** 600
    assert TOTAL_VARIATION.admits(1.0, far, sigma=1e-300)
    assert not TOTAL_VARIATION.admits(math.nextafter(1.0, 0.0), far, sigma=1e-300)
    assert not LIPSCHITZ.admits(1.7e308, far, sigma=1e-300)
    assert LIPSCHITZ.admits(math.inf, far, sigma=0.0)
    assert not LIPSCHITZ.admits(0.0, Fraction(1, 10**600), sigma=1e300)
    assert LIPSCHITZ.admits(5e-324, Fraction(1, 10**600), sigma=1e300)
    assert not LIPSCHITZ.admits(-0.1, Fraction(0), sigma=1.0)


def test_another_mean_is_refused(path):
    plain, tensors = model(3)
    tensors["parameters"] = tensors["parameters"].copy()
    tensors["parameters"][2] *= 1 + 1e-13
    assert "center" in failures(write(path, plain, tensors))


def test_a_moved_center_is_held_to_its_distances(path):
    plain, tensors = model(3, center="ball")
    tensors["parameters"] = tensors["group_parameters"][0].copy()
    assert {"distances", "epsilon_by_group"} <= set(failures(write(path, plain, tensors)))


def test_an_altered_weight_fails_the_digest(path):
    plain, tensors = model(3)
    write(path, plain, tensors)
    data = bytearray(path.read_bytes())
    data[-3] ^= 1
    path.write_bytes(data)
    assert "digest" in failures(path)


def change(plain, tensors, case):
    certificate = plain["certificate"]
    match case:
        case "format":
            plain["format"] = 2
        case "format is true":
            plain["format"] = True
        case "link":
            plain["link"] = "step"
        case "center":
            plain["center"] = "median"
        case "sigma":
            plain["sigma"] = -1.0
        case "sigma is text":
            plain["sigma"] = "0.5"
        case "sigma is huge":
            plain["sigma"] = 10**400
        case "threshold":
            plain["threshold"] = 2.0
        case "classes":
            plain["classes"] = [0, 1, 2]
        case "groups":
            plain["groups"] = [1, True, 1.0]
        case "nested group":
            plain["groups"] = [[["a"]], "b", "c"]
        case "many groups":
            plain["groups"] = list(range(1001))
        case "certificate":
            plain["certificate"] = None
        case "extra":
            certificate["epsilon_claimed"] = 0.0
        case "short":
            certificate["distances"].pop()
        case "no tight bound":
            certificate["epsilon_tight"] = None
        case "bound is true":
            certificate["epsilon"] = True
        case "settings":
            plain["parameters"]["sigma"] = 0.25
        case "kind":
            plain["architecture"]["kind"] = "tree"
        case "activation":
            plain["architecture"]["activation"] = "sine"
        case "hidden":
            plain["architecture"]["hidden_layer_sizes"] = 5
        case "width":
            plain["architecture"]["n_features"] = -4
        case "features":
            plain["architecture"]["n_features"] = 5
        case "missing tensor":
            del tensors["parameters"]
        case "another tensor":
            tensors["more"] = np.zeros(3)
        case "transposed":
            tensors["group_parameters"] = np.ascontiguousarray(tensors["group_parameters"].T)
        case "free":
            tensors["free_group_parameters"] = np.zeros((3, 4))
        case "nan":
            tensors["parameters"] = tensors["parameters"] * np.nan


@pytest.mark.parametrize(
    ("case", "message"),
    [
        ("format", r"Expected format 1, got 2\."),
        ("format is true", r"Expected format 1, got True\."),
        ("link", r"Expected link to be one of .*, got 'step'\."),
        ("center", r"Expected center to be one of .*, got 'median'\."),
        ("sigma", r"Expected sigma >= 0, got -1\.0\."),
        ("sigma is text", r"Expected sigma to be a float64 number, got '0\.5'\."),
        ("sigma is huge", r"Expected sigma to be a float64 number, got 1000"),
        ("threshold", r"Expected a threshold between 0 and 1, got 2\.0\."),
        ("classes", r"Expected 2 classes, got 3\."),
        ("groups", r"Expected distinct plain labels in groups"),
        ("nested group", r"Expected distinct plain labels in groups"),
        ("many groups", r"Expected at most 1000 groups, got 1001\."),
        ("certificate", r"Expected certificate to be an object, got None\."),
        ("extra", r"Expected a certificate with .*, got"),
        ("short", r"Expected 3 numbers in the certificate's distances"),
        ("no tight bound", r"Expected epsilon_tight to be a float64 number, got None\."),
        ("bound is true", r"Expected epsilon to be a float64 number, got True\."),
        ("settings", r"Expected the same sigma in parameters \(0\.5\), got 0\.25\."),
        ("kind", r"Expected an architecture of kind 'network' or 'module', got 'tree'\."),
        ("activation", r"Expected activation to be one of .*, got 'sine'\."),
        ("hidden", r"Expected a list of hidden_layer_sizes, got 5\."),
        ("width", r"Expected positive whole sizes of the layers"),
        ("features", r"Expected 'group_parameters' of shape \(3, 6\), got \(3, 5\)\."),
        ("missing tensor", r"Expected 'parameters' of shape \(5,\), got None\."),
        ("another tensor", r"Expected no other tensors, got 'more'\."),
        ("transposed", r"Expected 'group_parameters' of shape \(3, 5\), got \(5, 3\)\."),
        ("free", r"Expected 'free_group_parameters' of shape \(3, 5\), got \(3, 4\)\."),
        ("nan", r"Expected finite values in 'parameters', got NaN or infinity\."),
    ],
)
def test_descriptions_that_do_not_fit(path, case, message):
    plain, tensors = model(3)
    change(plain, tensors, case)
    found = failures(write(path, plain, tensors))
    assert set(found) == {"description"}
    with pytest.raises(AssertionError, match=message):
        raise AssertionError(found["description"])


@pytest.mark.parametrize(
    ("name", "value"),
    [("sigma", 0.75), ("groups", ["a", "b", "c"]), ("n_parameters", 6), ("center", "ball")],
)
def test_a_certificate_of_another_model(path, name, value):
    plain, tensors = model(3)
    plain["certificate"][name] = value
    found = failures(write(path, plain, tensors))
    assert found["statement"].startswith(f"Expected {name} ")


def test_several_sensitive_columns(path):
    plain, tensors = model(3)
    labels = [["F", 1], ["F", 2], ["M", 1]]
    plain["groups"] = plain["certificate"]["groups"] = labels
    assert verify(write(path, plain, tensors)).holds


def test_modules_bring_buffers_and_no_count(path):
    plain, tensors = model(3)
    plain["architecture"] = {"kind": "module", "name": "Net"}
    tensors["buffer.running_mean"] = np.zeros((2, 3, 1))
    assert verify(write(path, plain, tensors)).holds


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "Expected JSON in the description"),
        ("[]", "Expected a JSON object in the description, got list"),
        ('{"format": 1}', "Expected the description in canonical JSON"),
        ('{"format":1,"format":1}', "a key occurs twice"),
        ('{"sigma":NaN}', "NaN is not a number"),
        ('{"sigma":1e999}', "outside the range of float64"),
        ('{"sigma":' + "9" * 5000 + "}", "Expected JSON in the description"),
        ('{"a":' + "[" * 100_000 + "]" * 100_000 + "}", "nesting too deep"),
        ("{}", "Expected format 1, got None"),
    ],
    ids=range(9),
)
def test_descriptions_that_are_not_proper_json(path, text, message):
    _, tensors = model(3)
    assert message in failures(write(path, None, tensors, text=text))["description"]


METADATA = {"fairsmooth": "{}", "digest": ""}


def tensor(**changes):
    return {"dtype": "F64", "shape": [2], "data_offsets": [0, 16]} | changes


@pytest.mark.parametrize(
    ("header", "message"),
    [
        (b"\xff\xfe", "Expected the header in UTF-8"),
        (b"{", "Expected JSON in the header"),
        (b'"text"', "Expected a JSON object in the header, got str"),
        ({}, "Expected metadata with exactly"),
        ({"__metadata__": {**METADATA, "more": ""}}, "Expected metadata with exactly"),
        ({"__metadata__": {**METADATA, "digest": 1}}, "Expected both metadata entries to be text"),
        (
            {"__metadata__": {**METADATA, "fairsmooth": "\ud800"}},
            "Expected a description in Unicode",
        ),
        ({"__metadata__": METADATA}, "Expected 0 bytes of tensors, got 16"),
        ({"__metadata__": METADATA, "a": 1}, "Expected dtype, shape and data_offsets"),
        ({"__metadata__": METADATA, "a": tensor(dtype="F32")}, "Expected tensor 'a' in F64"),
        ({"__metadata__": METADATA, "a": tensor(shape=[-2])}, "Expected positive sizes"),
        ({"__metadata__": METADATA, "a": tensor(shape=[2, 0])}, "Expected positive sizes"),
        ({"__metadata__": METADATA, "a": tensor(shape=[10**30])}, "Expected positive sizes"),
        ({"__metadata__": METADATA, "a": tensor(shape=[1] * 9)}, "Expected positive sizes"),
        ({"__metadata__": METADATA, "a": tensor(shape=[2.0])}, "Expected positive sizes"),
        ({"__metadata__": METADATA, "a": tensor(shape=[3])}, "to fill its bytes"),
        (
            {"__metadata__": METADATA, "a": tensor(data_offsets=[8, 24])},
            "Expected tensor 'a' to start at byte 0, got 8",
        ),
        (
            {"__metadata__": METADATA, "a": tensor(), "b": tensor()},
            "Expected tensor 'b' to start at byte 16, got 0",
        ),
        (
            {"__metadata__": METADATA, "a": tensor(shape=[2**29], data_offsets=[0, 2**32])},
            "Expected 4294967296 bytes of tensors, got 16",
        ),
    ],
    ids=range(19),
)
def test_headers_that_are_damaged(path, header, message):
    assert message in failures(write_raw(path, header, bytes(16)))["file"]


def test_files_that_are_no_files(path, tmp_path):
    assert "No such file" in failures(path)["file"]
    assert "Expected a readable file" in failures(tmp_path)["file"]
    assert "Expected the path of a file" in failures("null\0byte")["file"]
    path.write_bytes(b"12345678")
    assert "got 8 bytes" in failures(path)["file"]
    path.write_bytes(struct.pack("<Q", 2**63) + b"{}")
    assert "Expected a header of 1 to 2 bytes" in failures(path)["file"]


def test_devices_are_not_read():
    assert "Expected a regular file" in failures("/dev/zero")["file"]


def test_every_truncation_is_refused(path):
    data = write(path, *model(2)).read_bytes()
    for length in range(0, len(data), 7):
        path.write_bytes(data[:length])
        assert failures(path)
    path.write_bytes(data + b"\0")
    assert "bytes of tensors" in failures(path)["file"]


def test_large_models_are_quick(path):
    plain, tensors = model(10, (200, 490))
    assert tensors["parameters"].size > 99_000
    write(path, plain, tensors)
    start = time.perf_counter()
    assert verify(path).holds
    assert time.perf_counter() - start < 20.0


def test_an_empty_verification_does_not_hold():
    assert not Verification(()).holds
    assert str(Check("digest", False, "altered")) == "FAILS digest: altered"


def test_imports_nothing_that_it_judges():
    folder = Path(fairsmooth.__file__).parent / "verify"
    for source in folder.glob("*.py"):
        for node in ast.walk(ast.parse(source.read_text())):
            names = [node.module] if isinstance(node, ast.ImportFrom) else []
            names += [alias.name for alias in getattr(node, "names", []) if not names]
            ours = [name for name in names if name and name.startswith("fairsmooth")]
            assert all(n.startswith(("fairsmooth.verify", "fairsmooth.exceptions")) for n in ours)
