"""A graph under construction: nodes in order, and the constants that they use."""

from collections.abc import Iterable
from typing import Any

import numpy as np

from fairsmooth.exceptions import InputError

# Versions of the operations: texts came to ONNX with 20.
OPSETS = {"": 20, "ai.onnx.ml": 3}
IR_VERSION = 10
OUTPUTS = ("probability", "decision", "intervals")
_DOMAINS = {"LabelEncoder": "ai.onnx.ml"}


def require_onnx() -> Any:
    """Return the package that writes ONNX files, or say how to install it."""
    try:
        import onnx
    except ImportError as error:
        raise InputError(
            "Expected the package onnx, which writes these files, found none. "
            "Install it with pip install 'fairsmooth[onnx]'."
        ) from error
    return onnx


class Input(str):
    """The name of an input, which is the user's: it may be any text."""

    __slots__ = ()


class Graph:
    """Nodes, constants, inputs and outputs, by name.

    Every node has one output. A name says what a value is, so that a graph can be read.
    What is neither an input nor an output has a name that begins with a slash in the file, so
    that columns may have any other name.
    """

    def __init__(self) -> None:
        self.onnx = require_onnx()
        self.nodes: list[Any] = []
        self.constants: list[Any] = []
        self.inputs: list[Any] = []
        self.outputs: list[Any] = []

    def input(self, name: str, dtype: type, shape: tuple[Any, ...]) -> Input:
        """Declare an input."""
        self.inputs.append(self._value(name, dtype, shape))
        return Input(name)

    def output(self, name: str, dtype: type, shape: tuple[Any, ...]) -> None:
        """Declare that a value is an output."""
        self.outputs.append(self._value(name, dtype, shape))

    def constant(self, name: str, values: Any, dtype: Any = np.float64) -> str:
        """Add a constant."""
        array = np.asarray(values, dtype=dtype)
        self.constants.append(self.onnx.numpy_helper.from_array(array, _inside(name)))
        return name

    def node(self, name: str, operation: str, inputs: Iterable[str], **attributes: Any) -> str:
        """Add an operation and name its result."""
        domain, inside = _DOMAINS.get(operation, ""), _inside(name)
        self.nodes.append(
            self.onnx.helper.make_node(
                operation, [*map(_inside, inputs)], [inside], name=inside, domain=domain,
                **attributes,
            )
        )  # fmt: skip
        return name

    def model(self, *, about: str, metadata: dict[str, str]) -> Any:
        """Return the whole as an ONNX model, checked."""
        helper = self.onnx.helper
        graph = helper.make_graph(self.nodes, "fairsmooth", self.inputs, self.outputs,
                                  self.constants)  # fmt: skip
        opsets = [helper.make_opsetid(domain, version) for domain, version in OPSETS.items()]
        model = helper.make_model(
            graph, opset_imports=opsets, ir_version=IR_VERSION, producer_name="fairsmooth"
        )
        model.doc_string = about
        helper.set_model_props(model, metadata)
        self.onnx.checker.check_model(model)
        return model

    def _value(self, name: str, dtype: type, shape: tuple[Any, ...]) -> Any:
        kinds = {
            str: self.onnx.TensorProto.STRING,
            float: self.onnx.TensorProto.DOUBLE,
            int: self.onnx.TensorProto.INT64,
        }
        return self.onnx.helper.make_tensor_value_info(name, kinds[dtype], shape)


def _inside(name: str) -> str:
    return name if isinstance(name, Input) or name in OUTPUTS else f"/{name}"


def input_name(column: str) -> str:
    """Return the name of a column's input: its own, unless something else has it."""
    taken = column in OUTPUTS or column.startswith(("/", "input:"))
    return f"input:{column}" if taken else column
