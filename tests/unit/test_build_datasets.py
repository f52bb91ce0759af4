import hashlib
import importlib.util
import zipfile
from pathlib import Path

import pandas as pd
import pyarrow.parquet as pq
import pytest

TOOL = Path(__file__).parents[2] / "tools" / "build_datasets.py"
TRAIN = b"""\
39, State-gov, 77516, Bachelors, 13, Never-married, Adm-clerical, Not-in-family, White, Male, \
2174, 0, 40, United-States, <=50K
52, ?, 209642, HS-grad, 9, Married-civ-spouse, ?, Husband, Black, Male, 0, 0, 45, ?, >50K

"""
TEST = b"""\
|1x3 Cross validator
25, Private, 226802, 11th, 7, Never-married, Sales, Own-child, Black, Female, 0, 0, 40, Peru, >50K.

"""
COMPAS_HEADER = (
    "id,name,dob,sex,age,race,juv_fel_count,decile_score,juv_misd_count,juv_other_count,"
    "priors_count,days_b_screening_arrest,c_charge_degree,is_recid,score_text,two_year_recid\n"
)
KEPT = [
    "1,ann lee,1980-01-01,Female,33,Other,0,1,0,0,2,-30,F,0,Low,0",
    "2,bob ray,1990-01-01,Male,23,Caucasian,1,9,0,0,5,30,M,1,High,1",
]
REMOVED = [
    "3,too late,1990-01-01,Male,23,Asian,0,9,0,0,5,31,M,1,High,1",
    "4,no date,1990-01-01,Male,23,Asian,0,9,0,0,5,,M,1,High,1",
    "5,no case,1990-01-01,Male,23,Asian,0,9,0,0,5,0,M,-1,High,1",
    "6,ordinary,1990-01-01,Male,23,Asian,0,9,0,0,5,0,O,1,High,1",
    "7,no score,1990-01-01,Male,23,Asian,0,9,0,0,5,0,M,1,N/A,1",
]


@pytest.fixture
def tool():
    spec = importlib.util.spec_from_file_location("build_datasets", TOOL)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def sources(tool, tmp_path, monkeypatch):
    contents = {
        "adult.data": TRAIN,
        "adult.test": TEST,
        "compas-scores-two-years.csv": compas(KEPT + REMOVED),
    }
    digests = {name: hashlib.sha256(content).hexdigest() for name, content in contents.items()}
    monkeypatch.setattr(tool, "SHA256", digests)
    folder = tmp_path / "source" / "deep"
    folder.mkdir(parents=True)
    for name, content in contents.items():
        (folder / name).write_bytes(content)
    return tmp_path / "source"


def compas(rows):
    return (COMPAS_HEADER + "\n".join(rows)).encode()


def test_adult_is_cleaned(tool):
    table = tool.adult_table(TRAIN, TEST)
    assert table["over-50k"].tolist() == [False, True, True]
    assert table["official-train"].tolist() == [True, True, False]
    assert table["sex"].tolist() == ["Male", "Male", "Female"]
    assert table["workclass"].isna().tolist() == [False, True, False]
    assert list(table) == list(tool.ADULT_COLUMNS)


def test_compas_keeps_the_rows_of_the_filter(tool):
    table = tool.compas_table(compas(KEPT + REMOVED))
    assert sorted(table["age"]) == [23, 33]
    assert table.set_index("age")["two_year_recid"].to_dict() == {23: True, 33: False}


def test_compas_order_does_not_depend_on_the_order_of_the_source(tool):
    rows = KEPT + [KEPT[0].replace(",33,", f",{age},") for age in range(40, 60)]
    pd.testing.assert_frame_equal(
        tool.compas_table(compas(rows)), tool.compas_table(compas(rows[::-1]))
    )


def test_no_person_is_named_in_what_is_written(tool, sources, tmp_path):
    tool.build(sources, tmp_path / "out")
    schema = pq.read_schema(tmp_path / "out" / "compas.parquet")
    assert schema.names == list(tool.COMPAS_COLUMNS)
    assert not {"name", "dob", "id", "decile_score", "score_text"} & set(schema.names)
    assert schema.metadata is None
    assert b"ann" not in (tmp_path / "out" / "compas.parquet").read_bytes()


def test_same_bytes_from_folder_and_archive_and_again(tool, sources, tmp_path):
    archive = tmp_path / "some.whl"
    with zipfile.ZipFile(archive, "w") as out:
        for path in sources.rglob("*.*"):
            out.write(path, f"package/data/{path.name}")
    digests = [
        tool.build(source, tmp_path / str(place))
        for place, source in enumerate([sources, sources, archive])
    ]
    assert digests[0] == digests[1] == digests[2]
    written = (tmp_path / "0" / "adult.parquet").read_bytes()
    assert hashlib.sha256(written).hexdigest() == digests[0]["adult.parquet"]


def test_altered_source_is_refused(tool, sources, tmp_path):
    (sources / "deep" / "adult.test").write_bytes(TEST + b"\n")
    with pytest.raises(SystemExit, match=r"Expected adult\.test with SHA-256 .*, got "):
        tool.build(sources, tmp_path)


def test_absent_source_is_named(tool, sources, tmp_path):
    (sources / "deep" / "adult.data").unlink()
    with pytest.raises(SystemExit, match=r"Expected adult\.data somewhere inside .*, found none"):
        tool.build(sources, tmp_path)


def test_checksums_are_those_of_the_originals(tool):
    assert {name: digest[:8] for name, digest in tool.SHA256.items()} == {
        "adult.data": "5b002646",
        "adult.test": "a2a9044b",
        "compas-scores-two-years.csv": "c451db85",
    }
