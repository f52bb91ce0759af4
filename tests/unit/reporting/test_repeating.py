"""Commands on a page can be pasted, and measure what the page measured."""

import shlex

import pytest

from fairsmooth.reporting.repeating import commands
from fairsmooth.reporting.subject import Subject
from fairsmooth.tables.provenance import Provenance

COLUMN = Subject(
    column="my score", label="it's hired", named_positive="yes; rm", sensitive=("sex", "a&b"),
    threshold=0.25, table_file="two words.csv", guarantee_file="g.json",
)  # fmt: skip


def test_a_column_is_audited_again_with_its_labels_and_threshold():
    words = shlex.split(commands(COLUMN)["audit"])
    assert words == [
        *("fairsmooth", "audit", "two words.csv", "--scores", "my score"),
        *("--label", "it's hired", "--positive", "yes; rm", "--sensitive", "sex"),
        *("--sensitive", "a&b", "--threshold", "0.25", "--report", "again.html"),
    ]


def test_decisions_without_labels_need_neither():
    command = commands(Subject(column="chosen", sensitive=("sex",), table_file="d.csv"))["audit"]
    assert command == "fairsmooth audit d.csv --scores chosen --sensitive sex --report again.html"


def test_a_positive_value_is_repeated_only_where_it_was_named():
    known = Subject(column="chosen", positive="1", sensitive=("sex",), table_file="d.csv")
    assert "--positive" not in commands(known)["audit"]
    named = Subject(column="chosen", named_positive="hire", positive="hire", table_file="d.csv")
    assert " --positive hire " in commands(named)["audit"]


def test_a_guarantee_of_a_column_is_verified_without_a_model():
    expected = "fairsmooth verify --guarantee g.json --data 'two words.csv'"
    assert commands(COLUMN)["guarantee"] == expected


@pytest.mark.parametrize(
    ("inside", "expected"),
    [
        (True, "fairsmooth verify 'a b.safetensors'"),
        (False, "fairsmooth verify 'a b.safetensors' --guarantee g.json --data rows.csv"),
    ],
)
def test_a_model_is_named(inside, expected):
    known = Provenance(label="hired", positive="yes", negative="no", sensitive=("sex",), rows=10)
    subject = Subject(
        provenance=known, column=None, model_file="a b.safetensors", table_file="rows.csv",
        guarantee_file="g.json", guarantee_inside=inside,
    )  # fmt: skip
    found = commands(subject)
    assert found["guarantee"] == expected
    assert found["certificate"] == "fairsmooth verify 'a b.safetensors' --attack 60"
    assert found["audit"] == "fairsmooth audit 'a b.safetensors' rows.csv --report again.html"
