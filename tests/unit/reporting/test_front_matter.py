import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from fairsmooth.reporting.front_matter import front_matter

keys = st.from_regex(r"[a-z][a-z_-]{0,8}", fullmatch=True).filter(
    lambda key: key not in ("null", "true", "false", "yes", "no", "on", "off", "y", "n")
)
# Half a surrogate pair is no text that a file can hold.
texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
numbers = st.integers(-(10**9), 10**9) | st.floats(-1e3, 1e3).map(lambda x: round(x, 6))
scalars = texts | numbers | st.booleans()
nested = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner, min_size=1, max_size=3)
        | st.dictionaries(keys, inner, min_size=1, max_size=3)
    ),
    max_leaves=8,
)


def parsed(text):
    first, *lines, last = text.split("\n")
    assert (first, last) == ("---", "---")
    assert "---" not in lines
    return yaml.safe_load("\n".join(lines))


@given(st.dictionaries(keys, nested, min_size=1, max_size=4))
def test_what_is_written_is_what_a_reader_of_yaml_finds(metadata):
    assert parsed(front_matter(metadata)) == metadata


@pytest.mark.parametrize(
    "text", ["a\n---\nlicense: mit", "yes", "1.5", "", "#", "\x85\u2028", "😀"]
)
def test_texts_stay_texts(text):
    assert parsed(front_matter({"name": text, "list": [text]})) == {"name": text, "list": [text]}


def test_half_a_character_is_replaced():
    assert parsed(front_matter({"name": "a\ud800b"})) == {"name": "a\ufffdb"}
