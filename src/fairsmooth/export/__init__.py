"""Models for other runtimes: one ONNX file that scores raw columns, and what to feed it."""

from fairsmooth.export.feeds import graph_inputs
from fairsmooth.export.onnx_file import describe_inputs, write_onnx

__all__ = ["describe_inputs", "graph_inputs", "write_onnx"]
