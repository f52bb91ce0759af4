import numpy as np
import pandas as pd
import pytest
from safetensors.numpy import save_file

from fairsmooth import FairSmoothClassifier, ModelFileError
from fairsmooth.data.encoding import TableEncoder
from fairsmooth.exceptions import InputError
from fairsmooth.persistence import file_digest, load, read_model, save

# A few iterations make a model that can be saved; it need not be at the minimum.
pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


@pytest.fixture(scope="module")
def fitted(biased):
    clf = FairSmoothClassifier(sigma=0.5, max_iter=30)
    return clf.fit(biased.X, biased.y, sensitive_features=biased.sensitive_features)


@pytest.fixture
def path(fitted, tmp_path):
    save(fitted, tmp_path / "model.safetensors")
    return tmp_path / "model.safetensors"


def test_round_trip_predicts_the_same_bits(fitted, path, biased):
    loaded = load(path)
    np.testing.assert_array_equal(loaded.predict_proba(biased.X), fitted.predict_proba(biased.X))
    np.testing.assert_array_equal(
        loaded.predict_interval(biased.X), fitted.predict_interval(biased.X)
    )
    assert loaded.certificate_ == fitted.certificate_
    assert loaded.groups_ == fitted.groups_
    assert loaded.threshold_ == fitted.threshold_
    free = fitted.predict_proba_free(biased.X, fitted.groups_[0])
    np.testing.assert_array_equal(loaded.predict_proba_free(biased.X, fitted.groups_[0]), free)


def test_the_same_model_gives_the_same_bytes(fitted, tmp_path):
    contents = set()
    for number in range(8):
        save(fitted, tmp_path / f"m{number}")
        contents.add((tmp_path / f"m{number}").read_bytes())
    assert len(contents) == 1


def test_encoder_notes_and_guarantee_travel_with_the_model(tmp_path):
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"age": rng.integers(20, 60, 80), "job": rng.choice(["a", "b"], 80)})
    encoder = TableEncoder.learn(table)
    clf = FairSmoothClassifier(max_iter=3)
    clf.fit(encoder.transform(table), np.arange(80) % 2, sensitive_features=np.arange(80) // 40)
    training = {"label": "y", "positive": "yes", "negative": "no", "sensitive": ["sex"], "rows": 80}
    guarantee = {"limits": {"demographic_parity": 0.05}}
    save(clf, tmp_path / "m", encoder=encoder, training=training, guarantee=guarantee)
    saved = read_model(tmp_path / "m")
    assert saved.encoder == encoder
    assert saved.training == training
    assert saved.guarantee == guarantee


def test_the_digest_of_a_model_is_that_of_its_rule(fitted, path, tmp_path, biased):
    save(fitted, tmp_path / "noted", training={"rows": 600, "date": "2020-01-01"}, guarantee={})
    assert file_digest(tmp_path / "noted") == file_digest(path)
    save(fitted, tmp_path / "labelled", training={"label": "y", "positive": 1, "negative": 0})
    assert file_digest(tmp_path / "labelled") != file_digest(path)
    other = FairSmoothClassifier(sigma=0.5, max_iter=30, threshold=0.4)
    other.fit(biased.X, biased.y, sensitive_features=biased.sensitive_features)
    save(other, tmp_path / "other")
    assert file_digest(tmp_path / "other") != file_digest(path)


def test_a_guarantee_object_is_written_as_plain_data(fitted, tmp_path):
    class Guarantee:
        def to_dict(self):
            return {"confidence": 0.95}

    save(fitted, tmp_path / "m", guarantee=Guarantee())
    assert read_model(tmp_path / "m").guarantee == {"confidence": 0.95}


def test_what_could_not_be_read_is_not_written(fitted, tmp_path):
    encoder = TableEncoder.learn(pd.DataFrame({"age": [20, 30, 40, 50]}))
    with pytest.raises(InputError, match="Expected the features that the encoder makes"):
        save(fitted, tmp_path / "m", encoder=encoder)
    with pytest.raises(InputError, match=r"Expected no other entries in table, got \['lable'\]"):
        save(fitted, tmp_path / "m", training={"lable": "y"})
    with pytest.raises(InputError, match="Expected a model that can be written"):
        save(fitted, tmp_path / "m", guarantee={"radius": float("nan")})
    assert not list(tmp_path.iterdir())


def test_intersectional_groups_and_text_labels_survive(biased, tmp_path):
    frame = pd.DataFrame({"a": biased.sensitive_features, "b": np.arange(len(biased.y)) % 2 == 0})
    y = np.where(biased.y == 1, "yes", "no")
    clf = FairSmoothClassifier(max_iter=5, free_reference=False)
    clf.fit(biased.X, y, sensitive_features=frame)
    save(clf, tmp_path / "m")
    loaded = load(tmp_path / "m")
    assert loaded.groups_ == clf.groups_
    assert (loaded.predict(biased.X) == clf.predict(biased.X)).all()
    assert loaded.free_group_parameters_ is None


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(ModelFileError, match=r"found none at .*nothing\.safetensors"):
        load(tmp_path / "nothing.safetensors")


@pytest.mark.parametrize(
    ("keep", "what"), [(0, "something else"), (4, "something else"), (200, ""), (-1, "damaged")]
)
def test_a_truncated_file_is_refused(path, keep, what):
    path.write_bytes(path.read_bytes()[:keep])
    with pytest.raises(ModelFileError, match=f"Expected a model file of this library.*{what}"):
        load(path)


def test_something_else_is_refused(tmp_path):
    (tmp_path / "m").write_text("a pickle would be run here")
    with pytest.raises(ModelFileError, match="which is something else"):
        load(tmp_path / "m")
    save_file({"x": np.zeros(3)}, tmp_path / "other")
    with pytest.raises(ModelFileError, match="which is something else"):
        load(tmp_path / "other")


def test_one_changed_bit_of_a_weight_is_refused(path):
    contents = bytearray(path.read_bytes())
    contents[-3] ^= 1
    path.write_bytes(contents)
    with pytest.raises(ModelFileError, match="its digest does not match"):
        load(path)


def test_a_failed_write_leaves_the_old_file(fitted, path, monkeypatch):
    before = path.read_bytes()
    monkeypatch.setattr("os.fsync", lambda _: (_ for _ in ()).throw(OSError(28, "No space left")))
    with pytest.raises(InputError, match="No space left"):
        save(fitted, path)
    assert path.read_bytes() == before
    assert list(path.parent.iterdir()) == [path]


def test_a_folder_that_is_not_there_is_named(fitted, tmp_path):
    with pytest.raises(InputError, match=r"Expected to be able to write .*absent"):
        save(fitted, tmp_path / "absent" / "model.safetensors")


def test_labels_that_are_no_plain_values_are_refused(biased, tmp_path):
    groups = pd.Series([pd.Timestamp(2020, 1, 1 + g) for g in biased.groups.codes], dtype=object)
    clf = FairSmoothClassifier(max_iter=2).fit(biased.X, biased.y, sensitive_features=groups)
    with pytest.raises(InputError, match="Expected labels that are text, numbers or booleans"):
        save(clf, tmp_path / "m")
