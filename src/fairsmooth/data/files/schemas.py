"""One schema for all files of a table."""

from collections.abc import Mapping
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from fairsmooth.exceptions import InputError

_NARROW = (pa.float16(), pa.float32())


def common_schema(first: Any, parts: Mapping[str, Any]) -> Any:
    """Return the schema that holds the columns of all files, numbers in the wider of their types.

    Text that some files have as codes of a dictionary and others spelt out is text. ``first``
    has the columns that the names of folders tell; ``parts`` are the schemas of files.

    Raises
    ------
    InputError
        If a column has values that are no numbers in one file, say, and numbers in another.
    """
    schemas = [first, *parts.values()]
    coded: dict[str, set[bool]] = {}
    for field in (field for schema in schemas for field in schema):
        coded.setdefault(field.name, set()).add(pa.types.is_dictionary(field.type))
    mixed = {name for name, ways in coded.items() if len(ways) > 1}
    try:
        plain = [_spelt_out(schema, mixed) for schema in schemas]
        return pa.unify_schemas(plain, promote_options="permissive")
    except pa.ArrowTypeError as error:
        raise _different(parts, error) from error


def stored_schema(common: Any, own: Any) -> Any:
    """Return the schema of all files, but with the narrower floats and decimals of one file."""
    for place, field in enumerate(common):
        if field.type == pa.float64() and field.name in own.names:
            kind = own.field(field.name).type
            if kind in _NARROW or pa.types.is_decimal(kind):
                common = common.set(place, field.with_type(kind))
    return common


def widened(batch: Any, common: Any) -> Any:
    """Return rows with floats as wide as in the schema of all files, and decimals as texts.

    Floats by their shortest decimal text, as where all files have the narrower ones: a cast of
    its own would make 0.10000000149 of a file's 0.1, which is 0.1 in the others. Of decimals a
    cast would make 1.1320000000000001 of 1.132, and one number of two long ones.
    """
    names = batch.schema.names
    if not any(kind in _NARROW or pa.types.is_decimal(kind) for kind in batch.schema.types):
        return batch
    columns = [
        _widened(column, common.field(name).type)
        for name, column in zip(names, batch.columns, strict=True)
    ]
    return pa.RecordBatch.from_arrays(columns, names=names)


def _widened(column: Any, kind: Any) -> Any:
    if column.type in _NARROW and kind == pa.float64():
        return pc.cast(pc.cast(column.cast(pa.float32()), pa.string()), kind)
    if not pa.types.is_decimal(column.type):
        return column
    texts = pc.cast(column, pa.string())
    return pc.cast(texts, kind) if kind == pa.float64() else texts


def _spelt_out(schema: Any, names: set[str]) -> Any:
    """Return a schema with the values of some columns in the place of their codes."""
    for place, field in enumerate(schema):
        if field.name in names and pa.types.is_dictionary(field.type):
            schema = schema.set(place, field.with_type(field.type.value_type))
    return schema


def _different(parts: Mapping[str, Any], error: Exception) -> Exception:
    """Name the column whose types are no one type, and two files that differ."""
    found: dict[str, dict[Any, str]] = {}
    for path, schema in parts.items():
        for field in schema:
            if not pa.types.is_null(field.type):
                found.setdefault(field.name, {}).setdefault(field.type, path)
    for name, types in found.items():
        if len(types) > 1 and f"Field {name} has" in str(error):
            (one, here), (other, there), *_ = types.items()
            return InputError(
                f"Expected one type of values in column {name!r} of all files, got {one} in "
                f"{here} and {other} in {there}. Write the files with the same type."
            )
    return error
