"""The model card: one Markdown file with the metadata block that model hubs read.

What it says follows from the model file, and from rows that it is audited on if any are given:
the same file gives the same card, byte for byte.
"""

import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from markupsafe import escape

from fairsmooth.core.labels import group_text
from fairsmooth.exceptions import InputError
from fairsmooth.guarantees import GapGuarantee
from fairsmooth.metrics import Audit
from fairsmooth.persistence import read_contents
from fairsmooth.persistence.contents import Contents
from fairsmooth.reporting.front_matter import front_matter
from fairsmooth.reporting.page import render
from fairsmooth.tables.provenance import Provenance

PIPELINE = "tabular-classification"
# Fewer people than this in a group, and a rate would tell something about each of them.
LEAST_PEOPLE = 10
_LICENCE = re.compile(r"[a-z0-9][a-z0-9.\-]{0,63}")
_DIGEST = re.compile(r"[0-9a-f]{64}")
# What Markdown takes for markup anywhere, and at the start of a line.
_MARKUP = re.compile(r"([\\`*_\[\]|~$#]|^[-+=]|(?<=^\d)[.)])")
_TAGS = (PIPELINE, "fairness", "certified-fairness", "randomized-smoothing")
# As model hubs spell them, or as their definition is called.
_METRICS = {
    "accuracy": ("accuracy", "Accuracy"),
    "demographic_parity": ("demographic_parity_difference", "Demographic parity gap"),
    "equalized_odds_sum": ("equalized_odds_sum", "Equalized odds gap (sum)"),
    "equalized_odds_max": ("equalized_odds_difference", "Equalized odds gap (maximum)"),
    "impact_ratio": ("demographic_parity_ratio", "Impact ratio"),
}


def model_card(
    path: str | os.PathLike[str],
    *,
    name: str | None = None,
    licence: str | None = None,
    audit: Audit | None = None,
    data: str = "rows given to the card",
    notes: Sequence[str] = (),
    guarantee: GapGuarantee | None = None,
) -> str:
    """Return the card of a model file as Markdown.

    Parameters
    ----------
    path : path
        A model file; reading it holds its certificate to its weights.
    name : str, optional
        Of the model; the file's name if left out.
    licence : str, optional
        As model hubs spell it, such as ``mit`` or ``apache-2.0``.
    audit : Audit, optional
        On rows that the model was not trained on: what the metadata's ``model-index`` states.
    data : str
        What those rows are called.
    notes : sequence of str
        What was noticed about them.
    guarantee : GapGuarantee, optional
        About this very model; the one in the file if left out.

    Raises
    ------
    InputError
        If the licence is no identifier, or the guarantee is another model's.
    """
    if licence is not None and not _LICENCE.fullmatch(licence):
        raise InputError(
            "Expected a licence as model hubs spell it, such as mit or apache-2.0, "
            f"got {licence!r}."
        )
    contents = read_contents(path)
    title = name or Path(path).name.removesuffix(".safetensors")
    attached = _guarantee(contents, guarantee)
    summary = None if audit is None else audit.summary()
    known = _provenance(contents)
    metadata = _metadata(title, licence, summary, data)
    context = {
        "front_matter": front_matter(metadata),
        "title": title,
        "provenance": known,
        "certificate": str(contents.certificate).splitlines(),
        "guarantee": None if attached is None else str(attached).splitlines(),
        "safety_rows": _safety_rows(attached),
        "separate": guarantee is not None,
        "summary": summary,
        "data": data,
        "notes": notes,
        "measures": {key: words for key, (_, words) in _METRICS.items()},
        "groups": [group_text(group) for group in contents.description.groups],
        "columns": _columns(contents),
        "digest": contents.digest,
        "rule": contents.description.plain,
        "n_parameters": contents.description.n_parameters,
        "least_people": LEAST_PEOPLE,
    }
    filters = {"md": markdown_text, "group": _group, "number": _number}
    return render("card.md", context, filters) + "\n"


def markdown_text(value: Any) -> str:
    r"""Return a text that Markdown shows as it is, on one line: names come from strangers' tables.

    Examples
    --------
    >>> markdown_text("a|b <script>")
    'a\\|b &lt;script&gt;'
    """
    flat = " ".join("".join(c if c.isprintable() else " " for c in str(value)).split())
    return _MARKUP.sub(r"\\\1", str(escape(flat)).replace("&#34;", '"').replace("&#39;", "'"))


def _guarantee(contents: Contents, given: GapGuarantee | None) -> GapGuarantee | None:
    if given is None:
        plain = contents.description.plain["guarantee"]
        return None if plain is None else GapGuarantee.from_dict(plain)
    if given.provenance.get("model") != contents.digest:
        raise InputError("Expected a guarantee about this model, got one about another.")
    return given


def _safety_rows(guarantee: GapGuarantee | None) -> str | None:
    """Return the digest of the safety rows, if what is stated has the form of one."""
    stated = "" if guarantee is None else str(guarantee.provenance.get("table"))
    return stated if _DIGEST.fullmatch(stated) else None


def _provenance(contents: Contents) -> Provenance | None:
    table = contents.description.table
    known = table is not None and "positive" in table and "sensitive" in table
    return Provenance.from_dict(table or {}) if known else None


def _columns(contents: Contents) -> list[str] | None:
    encoder = contents.description.encoder
    names = contents.description.plain["features"]["names"]
    return names if encoder is None else [str(column) for column in encoder.columns]


def _metadata(
    title: str, licence: str | None, summary: Mapping[str, Any] | None, data: str
) -> dict[str, Any]:
    found: dict[str, Any] = {} if licence is None else {"license": licence}
    found |= {"library_name": "fairsmooth", "pipeline_tag": PIPELINE, "tags": list(_TAGS)}
    if summary is None:
        return found
    measured = {key: summary[key] for key in _METRICS if summary.get(key) is not None}
    metrics = [
        {"type": _METRICS[key][0], "value": round(value, 6), "name": _METRICS[key][1]}
        for key, value in measured.items()
    ]
    result = {
        "task": {"type": PIPELINE, "name": "Tabular classification"},
        "dataset": {"type": "tabular", "name": data},
        "metrics": metrics,
    }
    found["metrics"] = [metric["type"] for metric in metrics]
    found["model-index"] = [{"name": title, "results": [result]}]
    return found


def _group(label: Any) -> str:
    return markdown_text(group_text(tuple(label) if isinstance(label, list) else label))


def _number(value: Any) -> str:
    return f"{value:.4f}" if isinstance(value, float) else "–"
