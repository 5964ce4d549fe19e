# One word does it: 'make' lists the words.  Set-up happens once, in .venv; 'make clean' takes it away again.

PYTHON ?= python3
CONFIG ?= configs/wam_table.yaml
VENV := .venv
BIN := $(VENV)/bin
SPREAD := --dist loadfile --no-loadscope-reorder
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check

.DEFAULT_GOAL := help
# Tests start hundreds of processes: each would compile its modules again.
unexport PYTHONDONTWRITEBYTECODE
.PHONY: help demo test test-long check faults fuzz bench clean

help:
	@echo "make demo    feel a robot arm over a table (a scripted hand does it where there is no display)"
	@echo "make test    run the tests; the first time machine code is compiled for a minute"
	@echo "make test-long  benchmarks, studies, long random searches, further cases of the tests"
	@echo "make check   ruff, mypy and the import rules"
	@echo "make faults  try every kind of fault 25 times: time to zero force, largest force and step"
	@echo "make fuzz    run 700 random scenes: no crash, no energy from nowhere, nothing in silence"
	@echo "make bench   measure step, loop and dynamics"
	@echo "make clean   remove .venv and what tools left behind"

demo: $(VENV)/.ready-window
	@$(BIN)/hapticsim run $(CONFIG) --device auto

test: $(VENV)/.ready-test
	@echo "the first start, which compiles the tick:"; $(BIN)/hapticsim run $(CONFIG) --device scripted --seconds 1 --no-record || true
	@status=0; echo "tests against the clock, two at a time:"; \
	$(BIN)/python -m pytest -m "clock and not long" -n 2 $(SPREAD) || { status=$$?; [ $$status -ne 2 ] || exit 2; }; \
	echo "all others, side by side:"; \
	$(BIN)/python -m pytest -m "not clock and not long" -n 3 $(SPREAD) || status=1; exit $$status

test-long: $(VENV)/.ready-test
	@status=0; echo "long tests against the clock:"; \
	$(BIN)/python -m pytest -m "clock and long" || { status=$$?; [ $$status -ne 2 ] || exit 2; }; \
	echo "all other long tests, side by side:"; \
	$(BIN)/python -m pytest -m "long and not clock" -n 2 --dist load || status=1; exit $$status

check: $(VENV)/.ready-test
	@$(BIN)/ruff check
	@$(BIN)/ruff format --check
	@$(BIN)/mypy
	@$(BIN)/lint-imports

faults: $(VENV)/.ready-test
	@$(BIN)/python tools/fault_campaign.py

fuzz: $(VENV)/.ready-test
	@$(BIN)/python tools/fuzz_scenes.py --scenes 300
	@$(BIN)/python tools/fuzz_scenes.py --stops --scenes 150
	@$(BIN)/python tools/fuzz_scenes.py --friction --scenes 250

bench: $(VENV)/.ready-test
	@for tool in step loop dynamics; do $(BIN)/python tools/bench_$$tool.py || exit 1; done

clean:
	@rm -rf $(VENV) .venv-newest build dist *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache
	@find hapticsim devices tests tools -name __pycache__ -type d -exec rm -rf {} +

$(VENV)/.made:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
		|| { echo "Python 3.11 or newer is needed: make PYTHON=/path/to/python3.11 ..." >&2; exit 2; }
	@$(PYTHON) -m venv $(VENV) \
		|| { echo "the venv module is missing: install it (Debian: python3-venv)" >&2; exit 2; }
	@touch $@

$(VENV)/.ready-window: $(VENV)/.made pyproject.toml
	@echo "setting up $(VENV) ..."
	@$(PIP) --editable '.[window]'
	@touch $@

$(VENV)/.ready-test: $(VENV)/.made pyproject.toml
	@echo "setting up $(VENV) for tests ..."
	@$(PIP) --no-compile --editable '.[window,test]'  # all modules, most of them never imported, took 30 s
	@touch $@ $(VENV)/.ready-window
