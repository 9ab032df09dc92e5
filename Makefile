# Every target prepares .venv itself; the first run takes a minute.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
COMPILED := .venv-compiled
CLIENTS := .venv-clients
MINING := .venv-mining
DOCS := .venv-docs
# LOCKED=1, as CI sets it: every package as it is in requirements/, by its hash.
LOCKED ?=
INSTALL := install --quiet --disable-pip-version-check

.PHONY: demo demo-sites docs quick test coverage check lint test-compiled test-clients test-browser soak bench \
	experiments clients lock format clean

demo: $(VENV)/.ready
	@$(BIN)/ppdm demo

# Three hospitals, then hospital, pharmacy and insurer; needs scikit-learn and mlxtend.
demo-sites: $(MINING)/.ready
	@$(MINING)/bin/python demo/sites

# Mining on original and released data; writes docs/reports/mining.md.
experiments: $(MINING)/.ready
	$(MINING)/bin/python -m pytest tests/experiments tests/end_to_end/test_demo_sites.py
	$(MINING)/bin/python -m experiments

# The pages of docs/ as a site, in site/.
docs: $(DOCS)/.ready
	$(DOCS)/bin/zensical build --clean --strict

# What a developer runs all the time: no engine but for the golden texts.
quick: $(VENV)/.ready
	$(BIN)/python -m pytest -n auto -q tests/unit tests/golden tests/test_layers.py tests/test_public.py

test: $(VENV)/.ready
	$(BIN)/python -m pytest -n auto

# The same, with what of the package no test reached; half as long again.
coverage: $(VENV)/.ready
	$(BIN)/python -m pytest -n auto --cov --cov-report=term:skip-covered --cov-fail-under=95

check: lint test

lint: $(VENV)/.ready
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

# What sqlglot reads and writes, again with the compiled one, which another package may bring along:
# without the rooms of pure numpy.
test-compiled: $(COMPILED)/.ready
	$(COMPILED)/bin/python -m pytest -n auto tests/golden tests/property tests/unit tests/session \
		$(addprefix --ignore=tests/,unit/kernels unit/anonymity unit/audit session/test_folder.py \
		property/test_anonymity.py)

# What is published, read by the oldest DuckDB clients; audits beside pycanon. A skip is a failure.
test-clients: clients $(VENV)/.ready
	PPDM_NO_SKIPS=1 $(BIN)/python -m pytest -n auto -m clients

# Pages in Chromium. A skip is a failure.
test-browser: $(VENV)/.ready
	PPDM_NO_SKIPS=1 $(BIN)/python -m pytest -m browser

# Kills at random moments, 20,000 mutated statements, many random tables: an hour, outside CI.
soak: $(VENV)/.ready
	$(BIN)/python -m pytest -m soak -n auto
	PPDM_CASES=new $(BIN)/python -m pytest -n auto tests/property tests/session tests/unit
	PPDM_TABLES=1000 $(BIN)/python -m pytest tests/property/test_generalize.py

# The oldest DuckDB clients that must read what is published, and pycanon, which audits are compared
# with: each in an environment of its own.
clients: $(CLIENTS)/1.4/.ready $(CLIENTS)/1.5/.ready $(CLIENTS)/pycanon/.ready

bench: $(VENV)/.ready
	$(BIN)/python -m bench

# What CI installs, with hashes; some minutes, because every wheel is asked for.
lock:
	$(PYTHON) -m venv .venv-lock
	.venv-lock/bin/pip $(INSTALL) pip-tools
	.venv-lock/bin/python requirements/lock.py

format: $(VENV)/.ready
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

clean:
	rm -rf $(VENV) $(COMPILED) $(CLIENTS) $(MINING) $(DOCS) site .coverage .pytest_cache .mypy_cache .ruff_cache .hypothesis

$(VENV)/.ready: pyproject.toml
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "ppdm-sql needs Python 3.11 or newer")'
	$(PYTHON) -m venv $(VENV)
ifdef LOCKED
	$(BIN)/pip $(INSTALL) --require-hashes --requirement requirements/ci.txt
	$(BIN)/pip $(INSTALL) --no-deps --no-build-isolation --editable .
else
	$(BIN)/pip $(INSTALL) --editable '.[dev]'
endif
	touch $@

$(COMPILED)/.ready: pyproject.toml
	$(PYTHON) -m venv $(COMPILED)
ifdef LOCKED
	$(COMPILED)/bin/pip $(INSTALL) --require-hashes --requirement requirements/ci-compiled.txt
	$(COMPILED)/bin/pip $(INSTALL) --no-deps --no-build-isolation --editable .
else
	$(COMPILED)/bin/pip $(INSTALL) --editable '.[dev]' 'sqlglot[c]>=30,<31'
endif
	touch $@

$(DOCS)/.ready: Makefile
	$(PYTHON) -m venv $(DOCS)
	$(DOCS)/bin/pip $(INSTALL) zensical==0.0.73
	touch $@

# duckdb-engine is SQLAlchemy's way in; one environment with it is enough.
$(CLIENTS)/1.5/.ready: COMPANIONS := duckdb-engine pandas polars pyarrow
$(CLIENTS)/pycanon/.ready:
	$(PYTHON) -m venv $(CLIENTS)/pycanon
	$(CLIENTS)/pycanon/bin/pip $(INSTALL) pycanon
	touch $@

$(CLIENTS)/%/.ready:
	$(PYTHON) -m venv $(CLIENTS)/$*
	$(CLIENTS)/$*/bin/pip $(INSTALL) 'duckdb==$*.0' $(COMPANIONS)
	touch $@

$(MINING)/.ready: pyproject.toml
	$(PYTHON) -m venv $(MINING)
	$(MINING)/bin/pip $(INSTALL) --editable '.[dev,mining,experiments]'
	touch $@
