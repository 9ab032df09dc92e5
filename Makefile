# Every target prepares .venv itself; the first run takes a minute.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
COMPILED := .venv-compiled

.PHONY: demo test check lint bench experiments test-compiled format clean

demo: $(VENV)/.ready
	@$(BIN)/ppdm demo

test: $(VENV)/.ready
	$(BIN)/python -m pytest -n auto --cov --cov-report=term:skip-covered --cov-fail-under=95

check: lint test

lint: $(VENV)/.ready
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

# The same suite with the compiled sqlglot, which another package may bring along.
test-compiled: $(COMPILED)/.ready
	$(COMPILED)/bin/python -m pytest -n auto

bench: $(VENV)/.ready
	$(BIN)/python -m bench

experiments: $(VENV)/.experiments
	$(BIN)/python -m experiments

format: $(VENV)/.ready
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

clean:
	rm -rf $(VENV) $(COMPILED) .coverage .pytest_cache .mypy_cache .ruff_cache .hypothesis

$(VENV)/.ready: pyproject.toml
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "ppdm-sql needs Python 3.11 or newer")'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check --editable '.[dev]'
	touch $@

$(VENV)/.experiments: $(VENV)/.ready
	$(BIN)/pip install --quiet --disable-pip-version-check --editable '.[dev,experiments]'
	touch $@

$(COMPILED)/.ready: pyproject.toml
	$(PYTHON) -m venv $(COMPILED)
	$(COMPILED)/bin/pip install --quiet --disable-pip-version-check --editable '.[dev]' 'sqlglot[c]>=30,<31'
	touch $@
