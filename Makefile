# Two commands on a fresh machine that has python3 with venv and pip: `make demo` and `make test`.
PYTHON ?= python3
BIN := .venv/bin

.PHONY: demo test test-min lint types layers docs reproduce-survey reproduce-top-label reproduce-na reproduce-tce reproduce-roc claims bench clean

demo: .venv/installed
	$(BIN)/calibrant demo -o demo/report.html --force

test: lint types layers
	$(BIN)/pytest --numprocesses auto --cov --cov-report=
	$(BIN)/coverage report --fail-under=90

lint: .venv/installed
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: .venv/installed
	$(BIN)/mypy

layers: .venv/installed
	$(BIN)/lint-imports

# The same tests with the oldest versions that pyproject.toml allows. Deprecations inside old releases are not ours to mend.
test-min: .venv-min/installed
	.venv-min/bin/python -m pytest --numprocesses auto -W ignore::DeprecationWarning

# The documentation, with every warning an error.
docs: .venv-docs/installed
	.venv-docs/bin/sphinx-build -W --keep-going -b html docs docs/_build/html

# The claims, tables and figures of each paper, from the data in $$CALIBRANT_DATA (or ../shared/data). Each states its time
# beforehand and fails where a claim says more than its numbers.
reproduce-survey: .venv/installed
	$(BIN)/python -m studies.survey

reproduce-top-label: .venv/installed
	$(BIN)/python -m studies.top_label

reproduce-na: .venv/installed
	$(BIN)/python -m studies.na_isotonic

reproduce-tce: .venv/installed
	$(BIN)/python -m studies.tce

reproduce-roc: .venv/installed
	$(BIN)/python -m studies.roc_isotonic

# docs/claims.md, from what those commands stored.
claims: .venv/installed
	$(BIN)/python -m studies

bench: .venv-bench/installed
	.venv-bench/bin/python -m benchmarks --output docs/benchmarks.md

.venv/installed: pyproject.toml
	$(PYTHON) -m venv .venv
	$(BIN)/pip install --quiet --editable '.[test]'
	touch $@

.venv-min/installed: pyproject.toml tools/minimum_versions.py
	$(PYTHON) -m venv .venv-min
	$(PYTHON) tools/minimum_versions.py > .venv-min/constraints.txt
	.venv-min/bin/pip install --quiet --constraint .venv-min/constraints.txt --editable '.[test]'
	touch $@

.venv-docs/installed: pyproject.toml
	$(PYTHON) -m venv .venv-docs
	.venv-docs/bin/pip install --quiet --editable '.[docs]'
	touch $@

.venv-bench/installed: pyproject.toml
	$(PYTHON) -m venv .venv-bench
	.venv-bench/bin/pip install --quiet --editable '.[bench]'
	touch $@

clean:
	rm -rf .venv .venv-min .venv-docs .venv-bench demo build dist docs/_build
