"""Labels of groups as text, one spelling for every place that shows them."""

from collections.abc import Hashable

Group = Hashable


def group_text(group: Group) -> str:
    r"""Return a group's label as text, the parts of an intersection joined by a bar.

    A bar or backslash inside a part is preceded by a backslash, so different groups
    never share a text: neither ``("a|b", "c")`` and ``("a", "b|c")``, nor the
    intersection ``("a", "b")`` and the single label ``"a|b"``.

    Examples
    --------
    >>> group_text(("Female", "White"))
    'Female|White'
    >>> print(group_text(("a|b", "c")), group_text(("a", "b|c")), group_text("a|b"))
    a\|b|c a|b\|c a\|b
    """
    parts = group if isinstance(group, tuple) else (group,)
    return "|".join(str(part).replace("\\", "\\\\").replace("|", "\\|") for part in parts)
