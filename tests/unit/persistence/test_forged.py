"""Whatever a prediction depends on is read by every reader: forged files are refused by both.

The forger knows the format and signs the file again, so no digest gives him away.
"""

import numpy as np
import pandas as pd
import pytest
from tests.unit.persistence.rewriting import rewrite

from fairsmooth import FairSmoothClassifier, ModelFileError
from fairsmooth.data.encoding import TableEncoder
from fairsmooth.persistence import load, read_certificate, save
from fairsmooth.verify import verify

# A few iterations make a model that can be saved; it need not be at the minimum.
pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


@pytest.fixture(scope="module")
def contents(tmp_path_factory):
    rng = np.random.default_rng(0)
    n = 200
    table = pd.DataFrame(
        {"age": rng.integers(20, 60, n), "job": rng.choice(["clerk", "nurse", "smith"], n)}
    )
    sex = rng.choice(["f", "m"], n)
    y = (table["age"] + rng.normal(0, 8, n) > 40).astype(int)
    encoder = TableEncoder.learn(table)
    clf = FairSmoothClassifier(sigma=0.5, max_iter=20)
    clf.fit(encoder.transform(table), y, sensitive_features=sex)
    training = {
        "label": "hired", "positive": "yes", "negative": "no", "sensitive": ["sex"],
        "ids": ["id"], "drop": [], "include_sensitive": False, "bands": {}, "rows": n,
        "held_out": None, "seed": 0, "test_size": 0.3, "digest": "0" * 64,
        "versions": {"fairsmooth": "0.1.0"}, "date": "2020-01-01", "notes": ["a note"],
    }  # fmt: skip
    path = tmp_path_factory.mktemp("forged") / "model"
    save(clf, path, encoder=encoder, training=training)
    return path.read_bytes()


@pytest.fixture
def path(contents, tmp_path):
    (tmp_path / "model").write_bytes(contents)
    return tmp_path / "model"


def put(*keys, value):
    """Return a change that sets one entry, given by the way to it."""

    def change(plain, tensors):
        *way, last = keys
        for key in way:
            plain = plain[key]
        plain[last] = value

    return change


def remove(*keys):
    def change(plain, tensors):
        *way, last = keys
        for key in way:
            plain = plain[key]
        del plain[last]

    return change


def weight(name, value):
    def change(plain, tensors):
        tensors[name] = tensors[name].copy()
        tensors[name].flat[0] = value

    return change


def both(*changes):
    def change(plain, tensors):
        for each in changes:
            each(plain, tensors)

    return change


def scaled(name, factor):
    def change(plain, tensors):
        number = plain["certificate"][name]
        plain["certificate"][name] = (
            [factor * entry for entry in number] if isinstance(number, list) else factor * number
        )

    return change


DEEP_AND_EXACT = both(
    put("smoothing", "method", value="exact"),
    put("parameters", "smoothing", value="exact"),
    put("architecture", "hidden_layer_sizes", value=[2, 2]),
)

FORGERIES = {
    "another format": (put("format", value=99), "format"),
    "no format": (remove("format"), "format"),
    "sampled in one place": (put("smoothing", "method", value="monte_carlo"), "smoothing"),
    "one draw in one place": (put("smoothing", "n_draws", value=1), "n_draws"),
    "no draws": (
        both(put("smoothing", "n_draws", value=0), put("parameters", "n_draws", value=0)),
        "n_draws",
    ),
    "an unknown method": (
        both(
            put("smoothing", "method", value="guess"), put("parameters", "smoothing", value="guess")
        ),
        "method",
    ),
    "more about smoothing": (put("smoothing", "seed", value=1), "smoothing"),
    "no features": (remove("features"), "features"),
    "features of another model": (put("features", "count", value=3), "features"),
    "a feature twice": (
        lambda plain, _: plain["features"]["names"].__setitem__(0, plain["features"]["names"][1]),
        "names of features",
    ),
    "a garbage encoder": (put("encoder", value={"columns": "garbage"}), "encoder"),
    "an encoder that is a text": (put("encoder", value="garbage"), "encoder"),
    "another encoder": (
        lambda plain, _: plain["encoder"]["columns"].pop(),
        "encoder",
    ),
    "edges that fall": (
        lambda plain, _: plain["encoder"]["columns"][0]["edges"].reverse(),
        "edges",
    ),
    "threshold 7": (put("threshold", value=7), "threshold"),
    "threshold true": (put("threshold", value=True), "threshold"),
    "not a number among free weights": (
        weight("free_group_parameters", np.nan),
        "finite values in 'free_group_parameters'",
    ),
    "infinite weights": (weight("group_parameters", np.inf), "finite"),
    "overall weights from elsewhere": (weight("parameters", 3.0), ""),
    "swapped classes": (put("classes", value=[1, 0]), "classes"),
    "classes of the table swapped": (put("classes", value=["no", "sure"]), "classes"),
    "one class": (put("classes", value=[0]), "classes"),
    "positive is negative": (put("table", "positive", value="no"), "different"),
    "no negative": (remove("table", "negative"), "together"),
    "the label is sensitive": (put("table", "sensitive", value=["hired"]), "one role"),
    "an id that is sensitive": (put("table", "ids", value=["sex"]), "one role"),
    "an unknown note": (put("table", "comment", value="x"), "no other"),
    "sensitive is a text": (put("table", "sensitive", value="sex"), "sensitive"),
    "bands of a stranger": (put("table", "bands", value={"age": [1, 2]}), "bands"),
    "bands that fall": (put("table", "bands", value={"sex": [2, 1]}), "rising"),
    "a table that is a list": (put("table", value=["x"]), "table"),
    "a guarantee that is a text": (put("guarantee", value="sure"), "guarantee"),
    "another sigma in the settings": (put("parameters", "sigma", value=1.0), "sigma"),
    "another sigma": (
        both(put("sigma", value=5.0), put("parameters", "sigma", value=5.0)),
        "sigma",
    ),
    "an unknown link": (put("link", value="import os"), "link"),
    "an unknown activation": (put("architecture", "activation", value="sine"), "activation"),
    "a wider network": (put("architecture", "hidden_layer_sizes", value=[2]), "shape"),
    "a huge network": (put("architecture", "hidden_layer_sizes", value=[10**6, 10**6]), ""),
    "exact where it is not": (DEEP_AND_EXACT, "a method of smoothing that"),
    "groups twice": (put("groups", value=["f", "f"]), "groups"),
    "other groups": (put("groups", value=["f", "x"]), "groups"),
    "half the bound": (scaled("epsilon", 0.5), "epsilon"),
    "half the tight bound": (scaled("epsilon_tight", 0.5), "epsilon_tight"),
    "bounds by group a little smaller": (scaled("epsilon_by_group", 1 - 1e-9), "epsilon_by_group"),
    "distances a little smaller": (scaled("distances", 1 - 1e-9), "distances"),
    "the largest distance a little smaller": (scaled("max_distance", 1 - 1e-9), "max_distance"),
    "no certificate": (remove("certificate"), "certificate"),
    "another key": (put("evil", value=1), "entries"),
}  # fmt: skip


@pytest.mark.parametrize(("change", "about"), FORGERIES.values(), ids=FORGERIES)
def test_every_reader_refuses(path, change, about):
    rewrite(path, change)
    verification = verify(path)
    assert not verification.holds
    assert any(about in f"{check.name} {check.detail}" for check in verification.failures)
    for read in (load, read_certificate):
        with pytest.raises(ModelFileError, match=f"Expected a model file of this library.*{about}"):
            read(path)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (put("table", "rows", value=-1), "rows to be a whole number"),
        (put("table", "held_out", value="many"), "held_out to be a whole number"),
        (put("table", "test_size", value=2), "test_size to be a number between 0 and 1"),
        (put("table", "digest", value="abc"), "digest to be a SHA-256"),
        (put("table", "versions", value={"numpy": 2}), "version of numpy to be text"),
        (put("table", "notes", value="one"), "notes to be a list of texts"),
        (put("table", "include_sensitive", value=1), "include_sensitive to be true or false"),
        (put("table", "positive", value=["yes"]), "positive to be text, a number"),
        (put("table", "id_digests", value="x"), "id_digests to be a list or an object"),
        (put("parameters", "evil", value=1), "unexpected keyword argument 'evil'"),
        (put("parameters", "module", value=1), "settings that are no code"),
        (put("library", value=1), "library to be text"),
        (put("sigma", value="0.5"), "sigma to be a number"),
        (put("sigma", value=10**400), "sigma to be a number"),
        (put("architecture", "n_features", value=True), "width to be a whole number"),
        (put("architecture", value={"kind": "tree"}), "kind of architecture among"),
        (put("encoder", "columns", 0, "name", value="agee"), "features that the encoder makes"),
        (weight("group_parameters", 1e300), "are not the centre of the groups"),
    ],
)  # fmt: skip
def test_the_library_refuses_what_else_is_no_description(path, change, message):
    rewrite(path, change)
    with pytest.raises(ModelFileError, match=message):
        load(path)


def test_unknown_tensors_and_other_types_are_refused(path):
    def add(plain, tensors):
        tensors["extra"] = np.zeros(2)

    def narrow(plain, tensors):
        tensors["parameters"] = tensors["parameters"].astype(np.float32)

    with pytest.raises(ModelFileError, match=r"in float64, got 'extra'"):
        load(rewrite(path, add))
    with pytest.raises(ModelFileError, match="Expected the tensors"):
        load(rewrite(path, both(lambda _, tensors: tensors.pop("extra"), narrow)))


def test_json_in_another_spelling_is_refused(path):
    from safetensors import safe_open
    from safetensors.numpy import load_file, save_file

    from fairsmooth.persistence.layout import digest

    with safe_open(path, framework="numpy") as file:
        text = file.metadata()["fairsmooth"].replace(":", ": ", 1)
    tensors = load_file(path)
    save_file(tensors, path, metadata={"fairsmooth": text, "digest": digest(text, tensors)})
    with pytest.raises(ModelFileError, match="Expected canonical JSON"):
        load(path)
    assert not verify(path).holds


def test_one_draw_in_both_places_does_not_hold(path):
    """The scores of one draw are off by up to .5 of the certified ones."""
    change = both(
        put("smoothing", value={"method": "monte_carlo", "n_draws": 1}),
        put("parameters", "smoothing", value="monte_carlo"),
        put("parameters", "n_draws", value=1),
    )
    failed = verify(rewrite(path, change)).failures
    assert [check.name for check in failed] == ["smoothing"]
    assert "although the exact way exists" in failed[0].detail


def test_sampling_where_the_exact_way_exists_is_flagged_with_its_interval(path):
    change = both(
        put("smoothing", value={"method": "monte_carlo", "n_draws": 2000}),
        put("parameters", "smoothing", value="monte_carlo"),
        put("parameters", "n_draws", value=2000),
    )
    verification = verify(rewrite(path, change))
    assert verification.holds
    flagged = next(check for check in verification.not_checked if check.name == "smoothing")
    radius = np.sqrt(np.log(200) / 2000)
    assert "although the exact way exists" in flagged.detail
    assert f"within {np.ceil(radius * 1e4) / 1e4:.4f} of the smooth one" in flagged.detail
    bound = read_certificate(path).epsilon_tight + radius
    assert f"within {np.ceil(bound * 1e4) / 1e4:.4f} of a group's own" in flagged.detail


def test_swapped_labels_cannot_be_seen_and_are_named(path):
    change = both(put("table", "positive", value="no"), put("table", "negative", value="yes"))
    verification = verify(rewrite(path, change))
    assert verification.holds
    shown = str(verification)
    assert "not checked decision: taken on trust: which value is positive" in shown
    assert "('no' in column 'hired')" in shown


def test_larger_bounds_are_true_and_kept(path):
    rewrite(path, scaled("epsilon", 2.0))
    assert verify(path).holds
    assert load(path).certificate_.epsilon == read_certificate(path).epsilon
    assert read_certificate(path).epsilon > 1.9 * read_certificate(path).epsilon_tight


def test_the_last_digit_does_not_decide(path):
    """Another C library may round the error function otherwise."""
    rewrite(path, scaled("epsilon_by_group", 1 - 2**-52))
    certificate = load(path).certificate_
    assert certificate.epsilon_tight == max(certificate.epsilon_by_group.values())
