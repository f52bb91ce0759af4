"""``fairsmooth certificate``: what a model file says."""

from fairsmooth.cli.options import Json, Model

NAME = "certificate"


def command(model: Model, json_output: Json = False) -> None:
    """Explain the certificate of a model in plain words."""
    from fairsmooth.cli.output import print_certificate, print_json
    from fairsmooth.persistence import read_certificate

    certificate = read_certificate(model)
    if json_output:
        print_json(certificate.to_dict())
    else:
        print_certificate(certificate)
