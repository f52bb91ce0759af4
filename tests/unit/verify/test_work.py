"""A guarantee that asks for much work, or for much memory, is judged within little of both."""

import copy
import tracemalloc

import numpy as np
import pytest

from fairsmooth.core.contrasts import Contrast, bound
from fairsmooth.guarantees import guarantee_gaps
from fairsmooth.verify import verify_guarantee

RADII = ("total_variation", "hellinger", "chi_square", "density_ratio")


def stated(counts, value):
    """Return a guarantee of parity, as written, with other counts and another bound."""
    decisions, groups = np.resize([1, 0], 40), np.resize(["a", "a", "b", "b"], 40)
    plain = guarantee_gaps(
        decisions, sensitive_features=groups, limits={"demographic_parity": 1.0}
    ).to_dict()
    plain["counts"] = [
        {**plain["counts"][0], "group": f"g{number}", "positive": x, "rows": n}
        for number, (x, n) in enumerate(counts)
    ]
    rates = [x / n for x, n in counts]
    facts = {"bound": value, "measured": max(rates) - min(rates)}
    plain["claims"][0] |= facts | {"radius": dict.fromkeys(RADII, 0.0)}
    plain["bounds"] = {"demographic_parity": facts["bound"]}
    plain["measured"] = {"demographic_parity": facts["measured"]}
    plain["radius"] = dict.fromkeys(RADII, 0.0)
    return plain


@pytest.mark.parametrize("share", [0.0, 0.99, 1.0])
def test_large_groups_take_little_memory_whether_the_bound_is_true_or_not(share):
    counts = [(500_000, 1_000_000), (480_000, 1_000_000)]
    proved = bound(counts, Contrast(), error=1.0 - 0.95)
    plain = stated(counts, share * proved)
    tracemalloc.start()
    found = verify_guarantee(plain)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert found.holds == (share == 1.0)
    assert peak < 300e6


def test_a_small_file_cannot_ask_for_hours_of_sums():
    plain = stated([(5 * 10**8, 10**9)] * 40, 0.5)
    (form, work) = verify_guarantee(plain).checks
    assert form.holds
    assert not work.holds
    assert work.name == "work"
    assert "Expected fewer rows, or fewer groups of so many" in work.detail
    scored = copy.deepcopy(plain) | {"scores": True}
    for count in scored["counts"]:
        count |= {"positive": 0, "mean": 0.5, "variance": 0.0}
    assert verify_guarantee(scored).holds  # scores need no sums
