import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression

from fairsmooth.datasets import load_adult
from fairsmooth.exceptions import InputError


def test_counts_are_those_of_the_publisher():
    data = load_adult("raw", include_sensitive=True)
    train = data.official_train
    assert (len(data), train.sum()) == (48842, 32561)
    # adult.names: 23.93 % over 50,000 overall; 7,841 of them in the training part.
    assert data.y[train].sum() == 7841
    assert round(data.y.mean(), 4) == 0.2393
    assert data.X["sex"].value_counts().to_dict() == {"Male": 32650, "Female": 16192}


def test_official_training_part_comes_first():
    train = load_adult("aif360").official_train
    assert train[:32561].all()
    assert not train[32561:].any()


def test_text_has_neither_blanks_nor_question_marks():
    raw = load_adult("raw").X
    for name in raw.select_dtypes(exclude="number").columns:
        values = raw[name].dropna()
        assert (values == values.str.strip(" .")).all()
        assert "?" not in set(values)
    assert raw.isna().sum()[lambda n: n > 0].to_dict() == {
        "workclass": 2799,
        "occupation": 2809,
        "native-country": 857,
    }


def test_aif360_has_18_binary_columns_with_one_age_and_one_education_each():
    X = load_adult("aif360").X
    assert X.shape == (48842, 18)
    assert set(np.unique(X)) == {0.0, 1.0}
    assert (X.filter(regex="^age=").sum(axis=1) == 1).all()
    assert (X.filter(regex="^education-years=").sum(axis=1) == 1).all()
    assert X.filter(regex="^age=").shape[1] == 7


def test_aif360_columns_agree_with_the_raw_table():
    raw, X = load_adult("raw", include_sensitive=True).X, load_adult("aif360").X
    for name, expected in {
        "sex": raw["sex"] == "Male",
        "race": raw["race"] == "White",
        "age=10": raw["age"] < 20,
        "age=30": raw["age"].between(30, 39),
        "age=>=70": raw["age"] >= 70,
        "education-years=<6": raw["education-num"] < 6,
        "education-years=9": raw["education"] == "HS-grad",
        "education-years=>12": raw["education-num"] > 12,
    }.items():
        np.testing.assert_array_equal(X[name] == 1, expected, err_msg=name)


def test_no_function_of_the_aif360_columns_is_more_accurate_than_its_ceiling():
    data = load_adult("aif360")
    cells = pd.Series(data.y).groupby([data.X[name] for name in data.X])
    best = np.maximum(cells.sum(), cells.size() - cells.sum()).sum() / len(data)
    assert cells.ngroups == 242
    assert round(best, 4) == 0.8044


def test_binned_leaves_out_sex_race_weight_and_the_second_education():
    data = load_adult("binned")
    assert set(data.encoder.columns) == set(load_adult("raw").X) - {"fnlwgt", "education-num"}
    with_both = load_adult("binned", include_sensitive=True)
    assert set(with_both.encoder.columns) - set(data.encoder.columns) == {"sex", "race"}
    assert set(np.unique(data.X)) == {0.0, 1.0}


def test_binned_is_learned_on_the_official_training_part():
    whole = load_adult("binned")
    train, test = whole.official_split()
    assert train.encoder == whole.encoder == test.encoder
    assert (len(train), len(test)) == (32561, 16281)
    pd.testing.assert_frame_equal(train.X, whole.X.iloc[:32561])


def test_groups():
    assert load_adult("aif360").groups.labels == ("Female", "Male")
    race = load_adult("aif360", sensitive="race")
    assert dict(zip(race.groups.labels, race.groups.counts, strict=True)) == {
        "Non-white": 7080,
        "White": 41762,
    }
    assert len(load_adult("aif360", sensitive="race", race="full").groups.labels) == 5
    both = load_adult("aif360", sensitive=["sex", "race"])
    assert ("Female", "Non-white") in both.groups.labels
    assert both.sensitive_names == ("sex", "race")


@pytest.mark.parametrize(
    ("arguments", "match"),
    [
        (
            {"encoding": "onehot"},
            "encoding to be one of 'binned', 'aif360', 'aif360-blind', 'raw', got",
        ),
        ({"sensitive": "age"}, "sensitive to be one of 'sex', 'race', got sensitive='age'"),
        ({"sensitive": []}, r"one or more different sensitive columns, got \[\]"),
        ({"sensitive": ["sex", "sex"]}, "one or more different sensitive columns"),
        ({"race": "merged"}, "race to be one of 'binary', 'full', got race='merged'"),
    ],
)
def test_unknown_choices(arguments, match):
    with pytest.raises(InputError, match=match):
        load_adult(**arguments)


def test_logistic_regression_reaches_its_known_accuracy():
    train, test = load_adult("binned").official_split()
    accuracy = LogisticRegression(max_iter=3000).fit(train.X, train.y).score(test.X, test.y)
    # One standard error of 16,281 test rows is .0027.
    assert accuracy == pytest.approx(0.865, abs=0.003)
