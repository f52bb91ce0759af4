"""``fairsmooth export``: a model for runtimes that do not have this library."""

from pathlib import Path
from typing import Annotated

import typer

from fairsmooth.cli.options import Json, Model

NAME = "export"


def command(
    model: Model,
    onnx: Annotated[Path, typer.Option("--onnx", help="ONNX file to write (.onnx).")],
    encoded: Annotated[
        bool, typer.Option("--encoded", help="Take encoded features instead of raw columns.")
    ] = False,
    json_output: Json = False,
) -> None:
    """Write a linear model as an ONNX graph: raw columns in, scores and intervals out.

    "fairsmooth verify" then checks that the graph is the certified model.
    """
    from fairsmooth.cli.output import print_json, say
    from fairsmooth.cli.targets import require_target
    from fairsmooth.exceptions import InputError

    require_target(onnx, inputs=[model])
    if onnx.suffix.lower() != ".onnx":
        raise InputError(f"Expected a file name that ends in .onnx, got {onnx.name}.")
    from fairsmooth.export import describe_inputs, write_onnx

    write_onnx(model, onnx, encoded=encoded)
    inputs = describe_inputs(model, encoded=encoded)
    if json_output:
        print_json({"onnx": str(onnx), "bytes": onnx.stat().st_size, "inputs": inputs})
        return
    say(f"Wrote {onnx}, {onnx.stat().st_size:,} bytes.")
    for name, kind in inputs.items():
        say(f"  {name}: {kind}")
    say(f"Check it with: fairsmooth verify {onnx}")
