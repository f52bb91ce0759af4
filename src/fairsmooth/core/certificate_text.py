"""A certificate in plain words: what is guaranteed, and what is not."""

from html import escape
from typing import TYPE_CHECKING

from fairsmooth.core.labels import group_text
from fairsmooth.core.outward import upper_text

if TYPE_CHECKING:
    from fairsmooth.core.certificate import Certificate


def in_words(certificate: "Certificate") -> list[str]:
    """Return the lines that explain a certificate; every bound in them is rounded up."""
    c = certificate
    lines = [
        f"Fairness certificate, {len(c.groups)} groups, sigma = {c.sigma:g}, "
        f"{c.n_parameters} parameters.",
    ]
    if c.slope != 1.0:
        lines.append(
            "Scores go through one fixed map, for everybody alike, whose slope is "
            f"{c.slope:.4g}: the bounds are those of sigma / slope = {c.sigma / c.slope:.4g}."
        )
    if c.sigma == 0 and c.epsilon > 0:
        lines.append("Nothing is certified: with sigma = 0 the classifiers are not smoothed.")
        return lines
    lines.append(
        "For every input, and whatever the population becomes, the overall score differs from "
        "the score of a group's own classifier by at most:"
    )
    lines += [
        f"  {group_text(group)}: {upper_text(c.epsilon_by_group[group])}  "
        f"(distance of the parameters {upper_text(c.distances[group], significant=True)})"
        for group in c.groups
    ]
    lines += [
        f"The paper's bound for all groups is {upper_text(c.epsilon)} "
        f"(largest distance between two groups {upper_text(c.max_distance, significant=True)}).",
        "So a group's selection rate, true and false positive rate and error rate, for decisions "
        "drawn with the score as probability, stay within these numbers of its own classifier's.",
        "It does not say that the groups are treated alike: it bounds neither the difference of "
        "selection rates nor that of error rates between groups. Those are measured by the audit.",
        "It does not say that a group's own classifier is the best for that group: the groups "
        "were trained with a tie between them, and moving all of them alike changes no number "
        "here: a common shift can give any rule any bound. The audit reports what both cost.",
    ]
    return lines


def in_html(certificate: "Certificate") -> str:
    """Return the bounds as a small table, and the text below it."""
    c = certificate
    rows = "".join(
        f"<tr><th>{escape(group_text(group))}</th><td>{upper_text(c.epsilon_by_group[group])}</td>"
        f"<td>{upper_text(c.distances[group], significant=True)}</td></tr>"
        for group in c.groups
    )
    head = "<tr><th>group</th><th>certified bound</th><th>distance of the parameters</th></tr>"
    text = "".join(f"<p>{escape(line)}</p>" for line in in_words(c) if not line.startswith("  "))
    return f"<div><table>{head}{rows}</table>{text}</div>"
