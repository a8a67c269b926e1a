# Every target sets up its own .venv from pyproject.toml; a second run only checks the stamp.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
CODE := src tests tools benchmarks experiments
# A file of tests stays together, so that a server or browser is started once.
SPREAD := -n 2 --dist loadfile

.PHONY: demo test lint bench reproduce docs clean

demo: $(VENV)/.stamp
	$(BIN)/shoal demo

# The quick checks first: style, types, then the tests from small to large.
test: lint
	$(BIN)/python -m pytest $(SPREAD) tests/unit tests/test_house.py
	$(BIN)/python -m pytest $(SPREAD) tests/contracts tests/cli tests/experiments tests/db tests/docs tests/web tests/spark

lint: $(VENV)/.stamp-dev
	$(BIN)/ruff check $(CODE)
	$(BIN)/ruff format --check $(CODE)
	$(BIN)/mypy

bench: $(VENV)/.stamp-dev
	$(BIN)/python -m benchmarks

# The papers' figures and verdicts; what was measured once by the same code is kept.
reproduce: $(VENV)/.stamp
	$(BIN)/python -m experiments

docs: $(VENV)/.stamp-dev
	$(BIN)/python tools/make_cli_docs.py

clean:
	rm -rf $(VENV) build dist .mypy_cache .ruff_cache .pytest_cache

$(VENV)/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(0 if sys.version_info >= (3, 11) else "Shoal needs Python 3.11 or newer; this is " + sys.version.split()[0] + ". Try: make PYTHON=python3.11")'
	$(PYTHON) -m venv $(VENV)

# pip learned to read dependency groups in 25.1, and editable builds need a recent one too.
$(VENV)/.stamp: pyproject.toml | $(VENV)/bin/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check "pip>=25.1"
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable .
	@touch $@

$(VENV)/.stamp-dev: $(VENV)/.stamp
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --group dev
	@touch $@
