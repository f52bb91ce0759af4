"""Pages that commands write: each says who is selected and what is guaranteed."""

import re

import pytest
from tests.integration.hiring import COLUMN, ROLES, mistake, people, run


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("reports")
    people(600, 0).to_csv(folder / "train.csv", index=False)
    people(1500, 1, first_id=10_000).to_csv(folder / "safe.csv", index=False)
    return folder


def _page(path):
    text = path.read_text(encoding="utf-8")
    assert len(text) < 3_000_000
    assert "default-src 'none'" in text
    words = re.sub(r"<(script|style).*?</\1>", "", text, flags=re.S)
    for heading in ("Who is selected", "What is guaranteed", "What is not", "Until when",
                    "Who checks it"):  # fmt: skip
        assert f"<h2>{heading}</h2>" in words
    assert "None" not in words
    return words


def test_training_writes_a_page_and_a_model_that_it_names(folder, capsys):
    train = ["train", folder / "train.csv", *ROLES, "--id", "id", "--drop", "score"]
    named = [*train, "-o", folder / "model"]
    code, _, err = run(capsys, *named, "--report", folder / "train.html")
    assert code == 0
    assert "Wrote" in err
    page = _page(folder / "train.html")
    for text in ("180 held-out rows", "plain logistic regression", "confirmed", "Training",
                 "fairsmooth verify model", "No gap between groups is guaranteed"):  # fmt: skip
        assert text in page
    assert "other than" in mistake(capsys, *named, "--report", folder / "train.csv")


def test_a_guarantee_writes_a_page_from_its_counts(folder, capsys):
    arguments = ["guarantee", folder / "safe.csv", *COLUMN, "--max-dp", "0.3"]
    code, _, _ = run(capsys, *arguments, "--report", folder / "g.html", "-o", folder / "g.json")
    assert code == 0
    page = _page(folder / "g.html")
    for text in ("1,500 safety rows", "limit: at most 0.3, kept", "How far may people change?",
                 "--guarantee g.json --data safe.csv", "confirmed"):  # fmt: skip
        assert text in page
    again = [*arguments, "-o", folder / "same", "--report", folder / "same"]
    assert "different names" in mistake(capsys, *again)


def test_a_series_shows_only_whether_it_passed(folder, capsys):
    arguments = ["guarantee", folder / "safe.csv", *COLUMN, "--max-dp", "0.3", "--attempt", "1"]
    run(capsys, *arguments, "--report", folder / "series.html")
    page = _page(folder / "series.html")
    assert "Attempt 1 of a declared series" in page
    assert "How far may people change?" not in page
    assert "needs the safety rows" in page
