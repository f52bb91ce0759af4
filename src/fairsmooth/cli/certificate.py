"""``fairsmooth certificate``: what a model file says."""

from pathlib import Path
from typing import Annotated

import typer

from fairsmooth.cli.output import print_certificate, print_json
from fairsmooth.cli.train import Json
from fairsmooth.persistence import read_certificate

NAME = "certificate"


def command(
    model: Annotated[Path, typer.Argument(help="A model file.")], json_output: Json = False
) -> None:
    """Explain the certificate of a model in plain words."""
    certificate = read_certificate(model)
    if json_output:
        print_json(certificate.to_dict())
    else:
        print_certificate(certificate)
