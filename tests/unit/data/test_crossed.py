import numpy as np
import pandas as pd
import pytest

from fairsmooth.cli.main import main
from fairsmooth.data import crossed
from fairsmooth.data.crossed import CrossedEncoder
from fairsmooth.exceptions import InputError, ModelFileError
from fairsmooth.verify._encoder import n_features_of


def table(n=400):
    random = np.random.default_rng(0)
    return pd.DataFrame(
        {
            "age": random.normal(size=n),
            "pay": random.normal(size=n),
            "job": random.choice(["a", "b", "c"], n),
        }
    )


def test_products_are_products_of_indicators():
    encoder = CrossedEncoder.learn(table())
    X = encoder.transform(table())
    rough = encoder.rough.transform(table())
    assert encoder.pairs
    for i, j in encoder.pairs:
        left, right = encoder.rough.feature_names[i], encoder.rough.feature_names[j]
        expected = (rough[left] == 1.0) & (rough[right] == 1.0)
        np.testing.assert_array_equal(X[f"{left} & {right}"], expected)


def test_only_frequent_products_are_kept():
    shares = CrossedEncoder.learn(table()).transform(table()).filter(like=" & ").mean()
    assert shares.between(crossed.LEAST_SHARE, 1.0 - crossed.LEAST_SHARE).all()
    assert not any("job=a & job=b" in name for name in shares.index)


def test_too_many_products_are_cut_and_told(monkeypatch):
    monkeypatch.setattr(crossed, "MOST_PAIRS", 4)
    encoder = CrossedEncoder.learn(table())
    assert len(encoder.pairs) == 4
    assert "products of two columns, 4 are kept" in encoder.notes[-1]


@pytest.mark.parametrize(
    "change",
    [
        {"pairs": [[0, 99]]},
        {"pairs": [[1, 0]]},
        {"pairs": [[0.0, 1]]},
        {"pairs": [[0, 1, 2]]},
        {"pairs": [[0, 1], [0, 1]]},
        {"pairs": "none"},
        {"extra": 1},
        {"fine": None},
    ],
)
def test_what_does_not_fit_is_refused(change):
    plain = CrossedEncoder.learn(table()).to_dict() | change
    with pytest.raises(InputError, match=r"Expected products as written by|Expected an encoder"):
        CrossedEncoder.from_dict(plain)


def test_the_verifier_counts_features_by_its_own_code():
    encoder = CrossedEncoder.learn(table())
    plain = encoder.to_dict()
    assert n_features_of(plain) == len(encoder.feature_names)
    for pairs in ([[0, 99]], [[1, 0]], [[0, True]], 7):
        with pytest.raises(ModelFileError, match="pair"):
            n_features_of(plain | {"pairs": pairs})
    with pytest.raises(ModelFileError, match="an encoder with"):
        n_features_of(plain | {"extra": 1})


def test_a_model_of_crossed_columns_is_used_like_any_other(tmp_path, capsys):
    random = np.random.default_rng(1)
    rows = table(600).assign(sex=random.choice(["f", "m"], 600))
    rows["paid"] = ((rows.age * rows.pay + random.normal(size=600)) > 0).astype(int)
    rows.to_csv(tmp_path / "t.csv", index=False)
    file, data = str(tmp_path / "m.safetensors"), str(tmp_path / "t.csv")
    roles = ["--label", "paid", "--sensitive", "sex", "--columns", "crossed", "-o", file]
    assert main(["train", data, *roles]) == 0
    assert main(["predict", file, data, "-o", str(tmp_path / "s.csv")]) == 0
    assert main(["audit", file, data, "--json"]) == 0
    assert main(["verify", file]) == 0
    capsys.readouterr()
    assert main(["explain", file, data, "--row", "1"]) == 0
    said = capsys.readouterr().out
    assert "age & pay" in said
    assert "Other values were not tried of: age, pay, job." in said
    assert "No change of a single column" not in said
    assert main(["export", file, "--onnx", str(tmp_path / "m.onnx")]) == 2
