import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression

from fairsmooth.datasets import load_compas
from fairsmooth.exceptions import InputError


def test_counts_are_those_of_propublica():
    data = load_compas("raw", include_sensitive=True)
    assert len(data) == 6172
    assert data.X["sex"].value_counts().to_dict() == {"Male": 4997, "Female": 1175}
    assert data.X["race"].value_counts().to_dict() == {
        "African-American": 3175,
        "Caucasian": 2103,
        "Hispanic": 509,
        "Other": 343,
        "Asian": 31,
        "Native American": 11,
    }
    # 2,809 of them reoffended; label 1 is for the others.
    assert data.y.sum() == 6172 - 2809


def test_only_columns_that_do_not_identify_a_person():
    assert set(load_compas("raw", include_sensitive=True).X) == {
        "age",
        "sex",
        "race",
        "juv_fel_count",
        "juv_misd_count",
        "juv_other_count",
        "priors_count",
        "c_charge_degree",
    }


def test_order_of_rows_says_nothing_about_label_or_group():
    data = load_compas("raw", sensitive="race")
    position = np.arange(len(data))
    for values in (data.y, data.groups.codes, data.X["age"], data.X["priors_count"]):
        assert abs(np.corrcoef(position, values)[0, 1]) < 4 / np.sqrt(len(data))


def test_aif360_has_10_binary_columns():
    X = load_compas("aif360").X
    assert X.shape == (6172, 10)
    assert set(np.unique(X)) == {0.0, 1.0}
    for name in ("age", "priors_count", "c_charge_degree"):
        assert (X.filter(regex=f"^{name}=").sum(axis=1) == 1).all()


def test_no_function_of_the_aif360_columns_is_more_accurate_than_its_ceiling():
    data = load_compas("aif360")
    cells = pd.Series(data.y).groupby([data.X[name] for name in data.X])
    best = np.maximum(cells.sum(), cells.size() - cells.sum()).sum() / len(data)
    assert round(best, 4) == 0.6747


def test_logistic_regression_on_random_splits():
    accuracies = []
    data = load_compas("binned", sensitive="race")
    for seed in range(10):
        train, test = data.split(0.3, random_state=seed)
        model = LogisticRegression(max_iter=1000).fit(train.X, train.y)
        accuracies.append(model.score(test.X, test.y))
    assert 0.665 < np.mean(accuracies) < 0.69


@pytest.mark.parametrize(
    ("race", "expected"),
    [
        ("binary", ("African-American", "Other")),
        ("merged", ("African-American", "Asian", "Caucasian", "Hispanic", "Other")),
        (
            "full",
            ("African-American", "Asian", "Caucasian", "Hispanic", "Native American", "Other"),
        ),
    ],
)
def test_groups_by_race(race, expected):
    assert load_compas("aif360", sensitive="race", race=race).groups.labels == expected


def test_unknown_race():
    with pytest.raises(InputError, match="race to be one of 'binary', 'merged', 'full', got"):
        load_compas(race="both")
