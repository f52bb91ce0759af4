# Every target sets up its own environment: Python >= 3.11 and make are enough.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
STAMP  := $(VENV)/.installed

# Two test processes with one numerical thread each fill a two-core machine.
export OMP_NUM_THREADS ?= 1

.PHONY: demo test kernels lint wheel bench docs links clean

demo: $(STAMP)
	$(BIN)/fairsmooth demo --out out/demo

test: $(STAMP)
	$(BIN)/python -m pytest -n 2 --dist worksteal

# The tests that compare numbers or files, once more under each of four sets of kernels.
kernels: $(STAMP)
	$(BIN)/python tools/kernels.py

lint: $(STAMP)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy

# sdist and wheel, the base and the demo from the wheel, in an environment with nothing else.
wheel: $(STAMP)
	$(BIN)/python tools/try_wheel.py

# All but those that need a checkout of other authors' code, or an environment of their own.
ELSEWHERE = $(wildcard benchmarks/beside_authors*.py) benchmarks/seldonian_bound.py
bench: $(STAMP)
	@for b in $(filter-out $(ELSEWHERE),$(wildcard benchmarks/[a-z]*.py)); do echo "== $$b"; $(BIN)/python $$b --quick || exit 1; done

docs: $(STAMP)
	$(BIN)/python tools/fill_tables.py
	$(BIN)/python tools/draw_rooms.py
	$(BIN)/python -m sphinx --fresh-env --fail-on-warning --keep-going -q -b html docs out/docs

# Whether addresses elsewhere answer: needs the network. Links between our own pages are tested by `make test`.
links: $(STAMP)
	$(BIN)/python -m sphinx --fresh-env -q -D plot_gallery=0 -b linkcheck docs out/links

$(STAMP): pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt torch==2.13.0
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e ".[dev]"
	touch $@

clean:
	rm -rf $(VENV) out
