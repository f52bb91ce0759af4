import numpy as np
import pandas as pd
import pytest

from fairsmooth.data.forecasts.forest import MOST_LEVEL
from fairsmooth.data.forecasts.inputs import learn_inputs, levels_of, places_of, usable_levels
from fairsmooth.exceptions import InputError

JOBS = ["nurse"] * 3 + ["clerk"] * 5 + ["cook"] * 3 + [None]


def table():
    return pd.DataFrame({"job": JOBS, "age": [*range(11), 10]})


def test_categories_are_numbered_by_how_many_rows_they_have():
    inputs = learn_inputs(table(), unknown="error")
    assert inputs.rules[0].values == ("clerk", "cook", "nurse")  # ties by their text
    levels = levels_of(inputs, table())
    assert levels.dtype == np.int16
    assert levels[:, 0].tolist() == [2] * 3 + [0] * 5 + [1] * 3 + [3]
    assert levels[:, 1].tolist() == [*range(11), 10]


def test_an_unseen_category_counts_as_rarer_than_any_or_is_refused():
    new = pd.DataFrame({"age": [3, 4], "job": ["smith", "clerk"]})
    ignoring = learn_inputs(table(), unknown="ignore")
    assert levels_of(ignoring, new)[:, 0].tolist() == [MOST_LEVEL, 0]
    strict = learn_inputs(table(), unknown="error")
    with pytest.raises(InputError, match="Expected column 'job' to hold known categories"):
        levels_of(strict, new)
    _, lines = usable_levels(strict, new)
    assert lines.tolist() == ["job is 'smith', not seen in training", None]


def test_a_missing_column_is_named():
    with pytest.raises(InputError, match="Expected a column named 'age'"):
        levels_of(learn_inputs(table(), unknown="error"), pd.DataFrame({"job": JOBS}))


def test_places_of_columns():
    inputs = learn_inputs(table(), unknown="error")
    assert places_of(inputs, ["age"]) == [1]
    assert places_of(inputs, []) == []
