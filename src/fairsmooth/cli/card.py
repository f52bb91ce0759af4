"""``fairsmooth card``: a model card with both certificates."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fairsmooth.cli.options import Decimal, Encoding, Json, Model, Separator

if TYPE_CHECKING:
    from fairsmooth.guarantees import GapGuarantee

NAME = "card"


def command(
    model: Model,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="Markdown file to write; printed if none.")
    ] = None,
    data: Annotated[
        Path | None,
        typer.Option("--data", help="Rows not trained on: their audit goes into the card."),
    ] = None,
    guarantee: Annotated[
        Path | None,
        typer.Option("--guarantee", help="A guarantee of gaps about this model, from a file."),
    ] = None,
    name: Annotated[str | None, typer.Option("--name", help="Of the model.")] = None,
    licence: Annotated[
        str | None, typer.Option("--license", help="As model hubs spell it, such as mit.")
    ] = None,
    sep: Separator = None,
    decimal: Decimal = None,
    encoding: Encoding = None,
    json_output: Json = False,
) -> None:
    """Write a model card in Markdown, with the metadata block that model hubs read.

    Certificate and guarantee are verified first: if one does not hold there is no card, and the
    exit code is 1.
    """
    from fairsmooth.cli.targets import require_target

    given = [path for path in (model, data, guarantee) if path is not None]
    if output is not None:
        require_target(output, inputs=given)
    attached = _verified(model, guarantee)
    from fairsmooth.cli.output import print_json, say
    from fairsmooth.reporting.card import model_card

    how = {"sep": sep, "decimal": decimal, "encoding": encoding}
    measured: dict[str, Any] = {}
    if data is not None:
        measured = _measured(model, data, how)
    text = model_card(model, name=name, licence=licence, guarantee=attached, **measured)
    if output is not None:
        from fairsmooth._atomic import write_bytes

        write_bytes(output, text.encode())
        say(f"Wrote {output}.")
    if json_output:
        print_json({"card": text})
    elif output is None:
        print(text, end="")
    if licence is None:
        say("Note: the card names no license; model hubs ask for one: --license mit or the like.")


def _verified(model: Path, guarantee: Path | None) -> "GapGuarantee | None":
    """Verify what the card will say; return the guarantee of a file of its own."""
    from fairsmooth.cli.confirming import confirm_guarantee, read_guarantee
    from fairsmooth.cli.output import say
    from fairsmooth.exceptions import InputError
    from fairsmooth.guarantees import GapGuarantee
    from fairsmooth.persistence import read_contents
    from fairsmooth.verify import verify

    if not model.is_file():
        raise InputError(f"Expected a model file, found none at {model}.")
    plain = read_guarantee(guarantee) if guarantee else None
    failed = list(verify(model).failures)
    if not failed:
        stated = plain or read_contents(model).description.plain["guarantee"]
        if stated is not None:
            failed += confirm_guarantee(stated, model=model, data=None).failures
    if failed:
        for check in failed:
            say(str(check))
        say("There is no card for what does not hold.")
        raise typer.Exit(1)
    return None if plain is None else GapGuarantee.from_dict(plain)


def _measured(model: Path, data: Path, how: dict[str, Any]) -> dict[str, Any]:
    """Audit the rows, and name them so that nobody takes trained rows for others."""
    from fairsmooth.cli.output import print_notes
    from fairsmooth.cli.reading import read
    from fairsmooth.tables import TableModel
    from fairsmooth.tables.auditing import SAME_TABLE

    loaded = TableModel.load(model)
    table, notes = read(data, text=loaded.text_columns, **how)
    audited = loaded.audited(table)
    print_notes([*notes, *audited.notes])
    trained = SAME_TABLE in audited.notes
    return {
        "audit": audited.audit(loaded.classifier),
        "data": f"{data.name}, which it was trained from" if trained else data.name,
        "notes": [*notes, *audited.notes],
    }
