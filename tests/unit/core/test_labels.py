from itertools import product

import pytest

from fairsmooth.core.labels import group_text


@pytest.mark.parametrize(
    ("group", "text"),
    [
        ("Female", "Female"),
        (3, "3"),
        (("Female", "White"), "Female|White"),
        (("a|b", "c"), r"a\|b|c"),
        (("a", "b|c"), r"a|b\|c"),
        ("a|b", r"a\|b"),
        ("a\\b", r"a\\b"),
        (("a\\", "b"), r"a\\|b"),
        (("a", "|b"), r"a|\|b"),
    ],
)
def test_labels_by_hand(group, text):
    assert group_text(group) == text


def test_no_two_groups_share_a_text():
    words = ["".join(letters) for n in range(4) for letters in product("a|\\", repeat=n)]
    groups = [*words, *product(words, repeat=2)]
    assert len({group_text(group) for group in groups}) == len(groups)
