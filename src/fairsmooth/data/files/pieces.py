"""Some rows of a column as they were stored, texts once each, until its kind is decided."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from fairsmooth.data.conversion import Array, ColumnType, arrow_kind, convert
from fairsmooth.data.kinds import Profile
from fairsmooth.data.known_texts import single_values


@dataclass(frozen=True, eq=False)
class Piece:
    """Rows of a column; ``places`` says where each row's value is among the values.

    Texts repeat, and reading one is slow: they are kept, and converted, once each.
    """

    values: Array
    places: NDArray[np.int32] | None

    @classmethod
    def of(cls, array: Array, profile: Profile | None = None) -> "Piece":
        """Keep rows, and take them into account for what the column may be."""
        kind = arrow_kind(array.type)
        if kind == "category":
            if profile is not None:
                profile.update(array)
            array = pc.cast(pc.cast(array, array.type.value_type), pa.large_string())
        if kind not in ("category", "text") or pa.types.is_null(array.type):
            piece = cls(array, None)
        else:
            coded = pc.dictionary_encode(pc.cast(array, pa.large_string()))
            gap = pa.array([None] if coded.null_count else [], pa.large_string())
            values = pa.concat_arrays([coded.dictionary, gap])
            places = np.asarray(pc.fill_null(coded.indices, len(values) - 1), dtype=np.int32)
            piece = cls(values, places)
        if profile is not None and kind != "category":
            profile.update(piece.values)
        return piece

    def series(self, name: str, kind: ColumnType) -> pd.Series:
        """Return the rows in the kind that was decided; texts as categories."""
        if kind.kind == "text":
            return joined_texts([self.texts(name, kind)])
        found = convert(self.values, kind)
        return found if self.places is None else found.take(self.places).reset_index(drop=True)

    def texts(self, name: str, kind: ColumnType) -> Any:
        """Return the rows as an Arrow dictionary of texts, which may be missing."""
        with single_values(name, self.values.type):
            read = convert(self.values, kind)
        found = pa.array(read, pa.large_string(), from_pandas=True)
        coded = pc.dictionary_encode(found)
        if self.places is None:
            return coded
        places = np.append(np.asarray(pc.fill_null(coded.indices, -1)), -1)[self.places]
        indices = pa.array(places.astype(np.int32), mask=places < 0)
        return pa.DictionaryArray.from_arrays(indices, coded.dictionary)


def joined(pieces: Sequence[Piece], name: str, kind: ColumnType) -> pd.Series:
    """Return all rows of a column, in the kind that was decided over all of them."""
    if kind.kind == "text":
        return joined_texts([piece.texts(name, kind) for piece in pieces]).rename(name)
    whole = pd.concat([piece.series(name, kind) for piece in pieces], ignore_index=True)
    return whole.rename(name)


def joined_texts(parts: Sequence[Any]) -> pd.Series:
    """Return texts as categories, in the order in which they occur."""
    whole = pa.chunked_array(parts).unify_dictionaries()
    places = [np.asarray(pc.fill_null(part.indices, -1)) for part in whole.chunks]
    texts = whole.chunk(0).dictionary.to_pandas()
    codes = np.concatenate(places)
    return pd.Series(pd.Categorical.from_codes(codes, categories=pd.Index(texts, dtype="str")))
