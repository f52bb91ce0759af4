"""``fairsmooth certificate``: what a model file says."""

from fairsmooth.cli.options import Json, Model

NAME = "certificate"


def command(model: Model, json_output: Json = False) -> None:
    """Explain the certificate of a model in plain words, and its gap guarantee if it has one."""
    from fairsmooth.cli.output import print_certificate, print_json, print_lines, printable
    from fairsmooth.persistence import read_contents

    contents = read_contents(model)
    certificate, plain = contents.certificate, contents.description.plain["guarantee"]
    if json_output:
        print_json({**certificate.to_dict(), **({} if plain is None else {"guarantee": plain})})
        return
    print_certificate(certificate)
    if plain is not None:
        from fairsmooth.guarantees import GapGuarantee

        print_lines(str(GapGuarantee.from_dict(printable(plain))).splitlines())
