"""Memory of a stored table, measured in a process of its own: it hardly grows with the rows."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import fairsmooth

# The peak is read where it begins anew with every program; what getrusage gives is inherited.
PROGRAM = """
import re, sys
from pathlib import Path
from fairsmooth.data.files import read_table
from fairsmooth.data.files.stored import StoredTable
from fairsmooth.data.roles import Roles
from fairsmooth.tables.stored_parts import StoredParts
peaks = []
for folder in sys.argv[2:]:
    if sys.argv[1] == "stored":
        roles = Roles("label", ("group",))
        parts = StoredParts.of(StoredTable.at(Path(folder)), roles, test_size=0.3, seed=0)
    else:
        parts = read_table(folder)
    peaks.append(re.search(r"VmHWM:\\s*(\\d+)", Path("/proc/self/status").read_text())[1])
    del parts
print(*peaks)
"""
# Bytes of a row more, at most: label, group, place and codes; texts and numbers are 400.
MOST = 200
# Allocators that keep nothing back: what is measured is then what is held.
ALLOCATORS = {"ARROW_DEFAULT_MEMORY_POOL": "system", "MALLOC_ARENA_MAX": "1"}


def write(folder, n_rows):
    folder.mkdir()
    texts = pa.array([f"a longer level {k}" for k in range(9)])
    for number, start in enumerate(range(0, n_rows, 50_000)):
        random = np.random.default_rng(number)
        n = min(50_000, n_rows - start)
        columns = {f"n{j}": random.normal(size=n).round(3) for j in range(8)}
        for j in range(12):
            codes = pa.array(random.integers(0, 9, n, dtype=np.int32))
            columns[f"c{j}"] = pa.DictionaryArray.from_arrays(codes, texts).cast(pa.string())
        columns["group"] = np.where(random.random(n) < 0.5, "f", "m")
        columns["label"] = (random.random(n) < 0.4).astype(np.int8)
        pq.write_table(pa.table(columns), folder / f"{number}.parquet")
    return folder


def grown(how, *folders):
    """Return how many bytes the second folder took beyond the first."""
    source = str(Path(fairsmooth.__file__).parents[1])
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, how, *map(str, folders)],
        env={**os.environ, **ALLOCATORS, "PYTHONPATH": source, "OMP_NUM_THREADS": "1"},
        stdout=subprocess.PIPE,
        check=True,
        text=True,
    )
    first, second = map(int, done.stdout.split())
    return 1024 * (second - first)


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="peaks are read from /proc")
def test_a_stored_table_takes_less_memory_than_its_rows(tmp_path):
    sizes = (100_000, 300_000)
    folders = [write(tmp_path / str(n_rows), n_rows) for n_rows in sizes]
    more = sizes[1] - sizes[0]
    assert grown("stored", *folders) < MOST * more
    # And that is little: the table alone takes more, before anything is done with it.
    assert grown("memory", *folders) > 1.5 * MOST * more
