"""A guarantee of the gaps again: by independent code, and from the rows if they are given."""

from pathlib import Path
from typing import Any

from fairsmooth.cli.documents import read_document
from fairsmooth.exceptions import InputError
from fairsmooth.verify import Check, GuaranteeVerification, Verification, verify_guarantee


def read_guarantee(path: Path) -> dict[str, Any]:
    """Read a guarantee as ``fairsmooth guarantee -o`` writes it."""
    plain = read_document(path, "a guarantee as JSON")
    if plain.get("format") != "fairsmooth-gap-guarantee":
        raise InputError(
            f"Expected a guarantee as `fairsmooth guarantee -o` writes it, got {path}."
        )
    return plain


def confirm_guarantee(
    plain: dict[str, Any], *, model: Path | None, data: Path | None, **reading: Any
) -> GuaranteeVerification:
    """Prove every number again, and hold it to the model and to the rows that are given."""
    facts = plain.get("provenance")
    facts = facts if isinstance(facts, dict) else {}
    checks: list[Check] = []
    if model is not None:
        checks.append(_about_the_model(facts, model))
    counts = None
    if data is not None:
        found, counts = _recount(plain, facts, model, data, reading)
        checks.append(found)
    verified = verify_guarantee(plain, counts=counts)
    return GuaranteeVerification((*checks, *verified.checks), verified.trusted)


def verdict_on_guarantee(plain: dict[str, Any], found: Verification) -> str:
    """Return the last line about a guarantee: what its checks say, and no more."""
    if found.failures:
        return "The guarantee does NOT hold."
    if found.undecided:
        return "The guarantee could not be checked: give its safety rows with --data."
    if not plain["holds"]:
        return "What the guarantee states is right: its limits are NOT guaranteed."
    return "The guarantee holds."


def _about_the_model(facts: dict[str, Any], model: Path) -> Check:
    from fairsmooth.persistence import file_digest

    same = facts.get("model") == file_digest(model)
    detail = "is about this model" if same else "Expected one about this model, got another's."
    return Check("guarantee's model", same, detail)


def _recount(
    plain: dict[str, Any],
    facts: dict[str, Any],
    model: Path | None,
    data: Path,
    reading: dict[str, Any],
) -> tuple[Check, list[dict[str, Any]]]:
    """Decide the rows again and count them."""
    from fairsmooth.data.files import read_table
    from fairsmooth.guarantees import GapGuarantee, Limits, guarantee_gaps
    from fairsmooth.tables import TableModel
    from fairsmooth.tables.decided import decided_by_column, decided_by_model
    from fairsmooth.tables.guaranteeing import needs_labels

    if model is not None:
        loaded = TableModel.load(model)
        table = read_table(data, text=loaded.text_columns, **reading)
        # What is done with values not seen in training is part of the rule.
        rows = decided_by_model(loaded, table, unknown=facts.get("unknown"))
    else:
        rows = decided_by_column(read_table(data, **reading), **_column(facts))
    same = facts.get("table") == rows.digest
    detail = "are those of the guarantee" if same else "Expected the rows it was made from."
    limits = Limits(**dict.fromkeys(_limit_names(plain), 1.0))
    counted = guarantee_gaps(
        rows.decisions,
        sensitive_features=rows.sensitive,
        y_true=rows.labels() if needs_labels(limits) else None,
        limits=limits,
    )
    assert isinstance(counted, GapGuarantee)
    return Check("guarantee's rows", same, detail), counted.to_dict()["counts"]


def _limit_names(plain: dict[str, Any]) -> list[str]:
    from fairsmooth.guarantees.quantities import QUANTITIES

    limits = plain.get("limits")
    names = list(limits) if isinstance(limits, dict) else []
    if not names or not set(names) <= set(QUANTITIES):
        raise InputError("Expected limits by quantity to count for, got others.")
    return names


def _column(facts: dict[str, Any]) -> dict[str, Any]:
    column, sensitive = facts.get("column"), facts.get("sensitive")
    if not isinstance(column, str) or not isinstance(sensitive, list):
        raise InputError(
            "Expected the model that made the decisions, got none, and the guarantee names no "
            "column of decisions."
        )
    label, positive, threshold = (facts.get(name) for name in ("label", "positive", "threshold"))
    texts = all(text is None or isinstance(text, str) for text in (label, positive))
    if not texts or not (threshold is None or type(threshold) in (int, float)):
        raise InputError(
            "Expected label and positive value as texts and a threshold as a number in the "
            f"guarantee's provenance, got {label!r}, {positive!r} and {threshold!r}."
        )
    return {
        "column": column,
        "sensitive": tuple(map(str, sensitive)),
        "label": label,
        "positive": positive,
        "threshold": threshold,
    }
