# Every target sets up its own .venv from pyproject.toml; a second run only checks the stamp.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
CODE := src tests tools benchmarks experiments
# Compiled Python is kept, even where it is not by default: rewriting tests takes long.
# Polars with one thread per worker: on small tables its threads take an eighth of the processor time for nothing.
TESTED := env -u PYTHONDONTWRITEBYTECODE POLARS_MAX_THREADS=1 $(BIN)/python -m pytest
# The tests of a file stay together (tests/conftest.py); files start in the order of collection.
# A worker that dies ends the run: with another one in its place pytest has been seen to wait forever.
SPREAD = -n $(WORKERS) --dist loadscope --no-loadscope-reorder --max-worker-restart 0

WORKERS := 2

.PHONY: demo test test-quick test-deep tests coverage soak mutants lint bench reproduce check-pages docs dist try-wheel clean

demo: $(VENV)/.stamp
	$(BIN)/shoal demo

# Style and types, and beside them the tests that need nothing but Python, those marked slow last.
# The contract of methods comes first and compiles the kernels for all that follow (tests/conftest.py).
test: $(VENV)/.stamp-dev
	@$(MAKE) --no-print-directory --jobs 2 lint tests

# For the inner loop: what is not marked slow, in less than a minute once kernels are compiled. Folders that
# are slow as a whole (tests/conftest.py) are not even collected.
ALL_SLOW := $(addprefix --ignore=tests/,ext/spark experiments ext/databases ext/web golden cli)
test-quick: $(VENV)/.stamp-dev
	$(TESTED) $(SPREAD) -m "not slow" $(ALL_SLOW)

# Three workers for two cores: tests of servers and signals wait for others a seventh of the time.
tests: WORKERS := 3
tests: $(VENV)/.stamp-dev
	$(TESTED) $(SPREAD) -m "not deep"

# What needs more: Spark, a browser, a PostgreSQL server, the documentation site, skipped where that is
# not there; and what tells of experiments, pipelines and other things beside the package. Continuous integration runs both.
test-deep: $(VENV)/.stamp-dev
	$(TESTED) $(SPREAD) -m deep

# Which lines of the core the tests reach; below 90 % it fails. The bodies of kernels are not counted
# (naive twins hold them), so whether they are compiled changes no figure; as plain Python they take hours.
# Left out is what being watched changes (unwatched: time, memory, what a process under limits writes) and
# what is deep; the engine for Spark counts all the same. Whether a test passes is said by make test: here it
# is only watched, and the report decides.
WATCHED := tests/unit tests/contracts tests/papers tests/guessing tests/cli tests/ext/databases tests/ext/web tests/ext/exchange tests/ext/proof tests/ext/learning
coverage: $(VENV)/.stamp-dev
	$(BIN)/coverage erase
	-$(BIN)/coverage run -m pytest $(SPREAD) -m "not unwatched and not deep" $(WATCHED)
	$(BIN)/coverage combine --quiet
	$(BIN)/coverage report

# Try the command and the page for a while, with a checker of their own (docs/trust.md).
SECONDS ?= 600
soak: $(VENV)/.stamp-dev
	$(BIN)/python tools/soak.py --seconds $(SECONDS)

# Which small changes of the code that a claim rests on do the tests not notice? SEED draws the sample.
SEED ?= 1
SAMPLE ?= 200
mutants: $(VENV)/.stamp-dev
	$(BIN)/python tools/mutants.py --seed $(SEED) --sample $(SAMPLE)

lint: $(VENV)/.stamp-dev
	$(BIN)/ruff check $(CODE)
	$(BIN)/ruff format --check $(CODE)
	$(BIN)/mypy

bench: $(VENV)/.stamp-dev
	$(BIN)/python -m benchmarks

# The papers' figures and verdicts; what was measured once by the same code is kept.
reproduce: $(VENV)/.stamp
	$(BIN)/python -m experiments
	$(BIN)/python -m experiments releases

# Which figures of the papers other code than the present measured; fails if there are any.
check-pages: $(VENV)/.stamp
	$(BIN)/python -m experiments --check

# The pages that are made from the code, the outputs they show, and the site (build/site).
docs: $(VENV)/.stamp-docs
	$(BIN)/python tools/make_cli_docs.py
	$(BIN)/python -m tools.make_arguments
	$(BIN)/python -m tools.draw_house
	$(BIN)/python -m tools.draw_before_after
	$(BIN)/python -m tools.draw_benchmark
	$(BIN)/python tools/run_docs.py
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet
	@echo "Open build/site/index.html"

# The source archive, and the wheel made from it, in dist: the same, byte for byte, as one made from the checkout.
dist: $(VENV)/.stamp
	rm -rf dist build/wheel
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --group dist
	$(BIN)/python -m build --outdir dist .
	$(BIN)/python -m build --wheel --outdir build/wheel .
	cmp dist/*.whl build/wheel/*.whl
	$(BIN)/twine check --strict dist/*

# The wheel as somebody else gets it: in an environment of its own, away from the checkout.
CLEAN := build/clean
try-wheel: dist
	rm -rf $(CLEAN)
	$(PYTHON) -m venv $(CLEAN)
	$(CLEAN)/bin/python -m pip install --quiet --disable-pip-version-check dist/*.whl
	cd $(CLEAN) && bin/shoal --version && bin/shoal demo --out demo
	cd $(CLEAN) && bin/shoal audit demo/release.csv --plan demo/plan.toml

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

$(VENV)/.stamp-docs: $(VENV)/.stamp-dev
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --group docs
	@touch $@
