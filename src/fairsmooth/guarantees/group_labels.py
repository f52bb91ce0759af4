"""Labels of groups that a document can hold."""

from collections.abc import Hashable
from dataclasses import replace

from fairsmooth.data.groups import Groups
from fairsmooth.exceptions import GroupError

_PLAIN = (str, bool, int, float)


def written(groups: Groups) -> Groups:
    """Return the groups with labels that JSON keeps: of dates, intervals and the like their text.

    What is written down and read again must be the same group: a monitor would otherwise take
    the people of one group for those of two.
    """
    labels = tuple(map(_written, groups.labels))
    if len(set(labels)) < len(labels):
        alike = sorted({str(label) for label in labels if labels.count(label) > 1})
        raise GroupError(
            f"Expected groups whose texts differ, got several that are written {alike}. "
            "Name them by texts of your own."
        )
    return replace(groups, labels=labels)


def _written(label: Hashable) -> Hashable:
    if isinstance(label, tuple):
        return tuple(map(_written, label))
    return label if label is None or isinstance(label, _PLAIN) else str(label)
