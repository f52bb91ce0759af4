"""``fairsmooth verify``: the certificate again, by independent code; and an attempt to break it."""

from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from fairsmooth.attack import AttackResult, Target, attack
from fairsmooth.cli.output import messages, print_json, results
from fairsmooth.cli.train import Json
from fairsmooth.core.architecture import Network
from fairsmooth.exceptions import InputError
from fairsmooth.persistence import SavedModel, read_model
from fairsmooth.verify import Verification, verify

NAME = "verify"


def command(
    model: Annotated[Path, typer.Argument(help="A model file.")],
    attack_seconds: Annotated[
        float, typer.Option("--attack", help="Seconds to search for the worst input; 0 is none.")
    ] = 0.0,
    seed: Annotated[int, typer.Option("--seed", help="Seeds the search.")] = 0,
    json_output: Json = False,
) -> None:
    """Verify a model's certificate from its weights; exit code 1 if it does not hold."""
    if attack_seconds < 0:
        raise InputError(f"Expected --attack >= 0, got {attack_seconds}.")
    if not model.is_file():
        raise InputError(f"Expected a model file, found none at {model}.")
    verification = verify(model)
    found: tuple[AttackResult, ...] = ()
    saved = None
    if attack_seconds > 0 and verification.holds:
        saved = read_model(model)
        with messages.status(f"attacking for {attack_seconds:g} s"):
            found = attack(
                _target(saved), seconds=attack_seconds, box=_box(saved), random_state=seed
            )
    holds = verification.holds and not any(result.violates for result in found)
    if json_output:
        print_json(_document(verification, found, holds))
    else:
        _print(verification, found, saved, holds)
    if not holds:
        raise typer.Exit(1)


def _target(saved: SavedModel) -> Target:
    classifier = saved.classifier
    if not isinstance(classifier.architecture_, Network):
        raise InputError("Expected a network to attack, got a module. Use the audit to measure it.")
    return Target(
        classifier.architecture_,
        classifier.group_parameters_,
        classifier.parameters_,
        sigma=classifier.sigma,
        link=classifier.link,
        groups=classifier.groups_,
    )


def _box(saved: SavedModel) -> tuple[Any, Any] | None:
    """Return the box of the features: a binned table has indicators only."""
    if saved.encoder is None or saved.encoder.numeric != "binned":
        return None
    width = saved.classifier.n_features_in_
    return np.zeros(width), np.ones(width)


def _print(
    verification: Verification,
    found: tuple[AttackResult, ...],
    saved: SavedModel | None,
    holds: bool,
) -> None:
    for check in verification.checks:
        results.print(str(check), markup=False)
    for result in found:
        results.print(f"attack {result}", markup=False)
        results.print(f"       at {_input_text(result, saved)}", markup=False)
    results.print("The certificate holds." if holds else "The certificate does NOT hold.")


def _input_text(result: AttackResult, saved: SavedModel | None) -> str:
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
    verification: Verification, found: tuple[AttackResult, ...], holds: bool
) -> dict[str, Any]:
    return {
        "holds": holds,
        "checks": [vars(check) for check in verification.checks],
        "attack": [result.to_dict() for result in found],
    }
