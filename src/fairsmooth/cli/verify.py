"""``fairsmooth verify``: the certificate again, by independent code; and an attempt to break it."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import typer

from fairsmooth.cli.options import MAX_SEED, Decimal, Encoding, Json, Separator
from fairsmooth.cli.output import messages, print_json, print_lines, printable, results
from fairsmooth.exceptions import InputError
from fairsmooth.verify import SUFFIX, Verification, model_inside, not_checked, verify

if TYPE_CHECKING:
    from fairsmooth.attack import AttackResult, Target
    from fairsmooth.persistence import SavedModel

NAME = "verify"
_HOLDS, _BROKEN = "The certificate holds.", "The certificate does NOT hold."


def command(
    model: Annotated[
        Path | None, typer.Argument(help="A model file, or an .onnx file made of one.")
    ] = None,
    guarantee: Annotated[
        Path | None, typer.Option("--guarantee", help="A guarantee of gaps to verify as well.")
    ] = None,
    data: Annotated[
        Path | None, typer.Option("--data", help="Its safety rows, to count them again.")
    ] = None,
    attack_seconds: Annotated[
        float, typer.Option("--attack", help="Seconds to search for the worst input; 0 is none.")
    ] = 0.0,
    seed: Annotated[
        int, typer.Option("--seed", min=0, max=MAX_SEED, help="Seeds the search of --attack.")
    ] = 0,
    sep: Separator = None,
    decimal: Decimal = None,
    encoding: Encoding = None,
    json_output: Json = False,
) -> None:
    """Verify a model's certificate from its weights; exit code 1 if it does not hold.

    A guarantee that withholds its counts needs --data; without it the exit code is 2.
    Lines marked "not checked" name what predictions depend on and a file cannot show.
    """
    if not 0 <= attack_seconds < float("inf"):
        raise InputError(f"Expected --attack >= 0, got {attack_seconds}.")
    if data is not None and guarantee is None:
        raise InputError("Expected --guarantee with --data, got the rows alone.")
    how = {"sep": sep, "decimal": decimal, "encoding": encoding}
    if model is None:
        if guarantee is None:
            raise InputError("Expected a model file or --guarantee, got neither.")
        _verify_guarantee_alone(guarantee, data, json_output, how)
        return
    if not model.is_file():
        raise InputError(f"Expected a model file, found none at {model}.")
    found: tuple[AttackResult, ...] = ()
    saved = None
    with _model_file(model) as file:
        verification, verdict = _with_guarantee(verify(model), guarantee, file, data, how)
        if attack_seconds > 0 and not verification.failures:
            # Loaded when asked for: verifying needs no torch, attacking does.
            from fairsmooth.persistence import read_model

            saved = read_model(file)
    if saved is not None:
        from fairsmooth.attack import attack

        with messages.status(f"attacking for {attack_seconds:g} s"):
            found = attack(
                _target(saved), seconds=attack_seconds, box=_box(saved), random_state=seed
            )
    broken = any(result.violates for result in found)
    if json_output:
        print_json(_document(verification, found, verification.holds and not broken))
    else:
        _print(verification, found, saved)
        print_lines([_BROKEN] if broken else verdict)
    _exit(verification, broken=broken)


@contextmanager
def _model_file(model: Path) -> Iterator[Path]:
    """Give the model file itself, or the one that an ONNX file carries."""
    if model.suffix.lower() != SUFFIX:
        yield model
        return
    with TemporaryDirectory() as folder:
        inside = Path(folder) / "model"
        inside.write_bytes(model_inside(model))
        yield inside


def _with_guarantee(
    verification: Verification,
    path: Path | None,
    model: Path,
    data: Path | None,
    how: dict[str, Any],
) -> tuple[Verification, list[str]]:
    """Add what verifying a guarantee of the gaps found, the one given or the file's own.

    Also return the verdicts, one line each: on the certificate, and on the guarantee.
    """
    from fairsmooth.cli.confirming import confirm_guarantee, read_guarantee, verdict_on_guarantee
    from fairsmooth.persistence import read_contents

    if not verification.holds:
        return verification, [_BROKEN]
    plain = read_guarantee(path) if path else read_contents(model).description.plain["guarantee"]
    if plain is None:
        return verification, [_HOLDS]
    found = confirm_guarantee(plain, model=model, data=data, **how)
    trusted = tuple(not_checked("taken on trust", what) for what in found.trusted)
    checks = (*verification.checks, *found.checks, *trusted)
    return Verification(checks), [_HOLDS, verdict_on_guarantee(plain, found)]


def _verify_guarantee_alone(
    path: Path, data: Path | None, json_output: bool, how: dict[str, Any]
) -> None:
    from fairsmooth.cli.confirming import confirm_guarantee, read_guarantee, verdict_on_guarantee

    plain = read_guarantee(path)
    found = confirm_guarantee(plain, model=None, data=data, **how)
    if json_output:
        print_json({"holds": found.holds, "checks": [vars(check) for check in found.checks],
                    "trusted": list(found.trusted)})  # fmt: skip
    else:
        print_lines(str(found).splitlines())
        print_lines([verdict_on_guarantee(plain, found)])
    _exit(found)


def _exit(found: Verification, *, broken: bool = False) -> None:
    """Exit with 1 for what does not hold, with 2 where something more must be given."""
    if broken or found.failures:
        raise typer.Exit(1)
    if not found.holds:
        raise typer.Exit(2)


def _target(saved: "SavedModel") -> "Target":
    from fairsmooth.attack import Target
    from fairsmooth.core.architecture import Network

    classifier = saved.classifier
    if not isinstance(classifier.architecture_, Network):
        raise InputError("Expected a network to attack, got a module. Use the audit to measure it.")
    return Target(
        classifier.architecture_,
        classifier.group_parameters_,
        classifier.parameters_,
        sigma=classifier.rule_.sigma,
        link=classifier.rule_.link,
        groups=classifier.groups_,
        calibration=classifier.calibration_,
    )


def _box(saved: "SavedModel") -> tuple[Any, Any] | None:
    """Return the box of the features, where they are indicators or forecasts."""
    return None if saved.encoder is None else saved.encoder.bounds


def _print(
    verification: Verification,
    found: "tuple[AttackResult, ...]",
    saved: "SavedModel | None",
) -> None:
    for check in verification.checks:
        results.print(str(check), markup=False)
    for result in found:
        results.print(printable(f"attack {result}"), markup=False)
        results.print(printable(f"       at {_input_text(result, saved)}"), markup=False)


def _input_text(result: "AttackResult", saved: "SavedModel | None") -> str:
    """Return the worst input's largest entries, by name where the model has names."""
    names = getattr(saved.classifier, "feature_names_in_", None) if saved else None
    order = np.argsort(-np.abs(result.x), kind="stable")[:5]
    shown = [
        f"{names[i] if names is not None else f'x{i}'} = {result.x[i]:.4g}"
        for i in order
        if result.x[i] != 0.0
    ]
    more = int((result.x != 0.0).sum()) - len(shown)
    return ", ".join(shown or ["0"]) + (f" and {more} more" if more > 0 else "")


def _document(
    verification: Verification, found: "tuple[AttackResult, ...]", holds: bool
) -> dict[str, Any]:
    return {
        "holds": holds,
        "checks": [vars(check) for check in verification.checks],
        "attack": [result.to_dict() for result in found],
    }
