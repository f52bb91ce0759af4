import numpy as np
import pytest
from tests.unit.verify.forged import as_format_1, failures, model, write

from fairsmooth.verify import verify


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
            plain["format"] = 3
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
        case "parameters of the architecture":
            plain["architecture"]["hidden_layer_sizes"] = [1]
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
        ("format", r"Expected format 1 or 2, got 3\."),
        ("format is true", r"Expected format 1 or 2, got True\."),
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
        (
            "parameters of the architecture",
            r"Expected 'group_parameters' of shape \(3, 7\), got \(3, 5\)\.",
        ),
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


def test_modules_bring_what_is_fixed_in_them(path):
    plain, tensors = model(3)
    tensors["buffer.running_mean"] = np.zeros((2, 3, 1))
    assert "got 'buffer.running_mean'" in failures(write(path, plain, tensors))["description"]
    tensors["frozen.weight"] = np.zeros((2, 3))
    plain["architecture"] = {"kind": "module", "name": "Net", "n_parameters": 5}
    verification = verify(write(path, plain, tensors))
    assert verification.holds
    assert {check.name for check in verification.not_checked} >= {"module", "smoothing"}
    plain["architecture"]["n_parameters"] = 0
    found = failures(write(path, plain, tensors))["description"]
    assert found == "Expected the module's n_parameters, got 0."


def test_files_of_format_1_hold(path):
    plain, tensors = model(3)
    assert verify(write(path, as_format_1(plain), tensors)).holds


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
        ("{}", "Expected format 1 or 2, got None"),
    ],
    ids=range(9),
)
def test_descriptions_that_are_not_proper_json(path, text, message):
    _, tensors = model(3)
    assert message in failures(write(path, None, tensors, text=text))["description"]
