# On a fresh machine that has python3 with venv and pip: `make demo` and `make test`. `make test-all` is the long form.
PYTHON ?= python3
BIN := .venv/bin
# What a person runs: the same tests and the same examples each time. `deep` marks what only `make test-all` runs.
QUICK := -m pytest --numprocesses auto --dist loadfile -m "not deep" -p tools.progress -o console_output_style=classic --quiet
# Tests of kernels: those that call them by name, and three whose subject is one.
TWINS = tests/metrics/test_kernel.py tests/calibrators/test_isotonic.py tests/calibrators/test_nafir.py \
	$(shell grep -rl "calibrant\._kernels" tests --include="test_*.py")
SEED ?= 20261124
DRAWS ?= 3000

# The workers share the cores: each computes on one thread. They and the processes that they start read what is compiled once.
test deep kernels test-min pythons: export OMP_NUM_THREADS = 1
unexport PYTHONDONTWRITEBYTECODE

.PHONY: demo test lint types layers test-all deep kernels test-min pythons wheel release-check docs integrations robust mutation
.PHONY: reproduce-survey reproduce-top-label reproduce-na reproduce-tce reproduce-roc papers claims bench arena clean

demo: .venv/installed
	$(BIN)/calibrant demo -o demo/report.html --force

# Five minutes on two cores with empty caches, half a minute of it lint, types and layers.
test: lint types layers
	$(BIN)/python $(QUICK)

lint: .venv/installed
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: .venv/installed
	$(BIN)/mypy

layers: .venv/installed
	$(BIN)/lint-imports

# What `make test` leaves out. About 45 minutes on two cores.
test-all: deep kernels docs test-min pythons wheel robust

# Every test, long simulations and large sizes included, with more examples: the same for the same SEED, anew for
# `make deep SEED=$RANDOM`.
deep: .venv/installed
	@echo "make deep SEED=$(SEED)"
	HYPOTHESIS_PROFILE=random $(BIN)/python -m pytest --numprocesses auto --hypothesis-seed=$(SEED) \
		-p tools.progress -o console_output_style=classic --quiet --durations=20

# The kernels as plain Python, where coverage sees their lines. Hashes of compiled code wrap around without a warning.
kernels: .venv/installed
	NUMBA_DISABLE_JIT=1 CALIBRANT_DATA=none HYPOTHESIS_PROFILE=few $(BIN)/python $(QUICK) --cov --cov-config=tools/kernels.coveragerc --cov-report= \
		-W "ignore:overflow encountered:RuntimeWarning" $(TWINS)
	$(BIN)/coverage report --rcfile=tools/kernels.coveragerc --fail-under=85

# `make test` with the oldest versions that pyproject.toml allows. Deprecations inside old releases are not ours to mend.
test-min: .venv-min/installed
	.venv-min/bin/python $(QUICK) -W ignore::DeprecationWarning

# `make test` with fewer examples under each Python that is installed besides $(PYTHON).
pythons:
	@for version in 3.11 3.12 3.13 3.14; do \
	  if $(PYTHON) -V | grep -q " $$version\."; then echo "Python $$version: make test"; \
	  elif python$$version -V 2>/dev/null; then $(MAKE) .venv-$$version/tested || exit 1; \
	  else echo "Python $$version: skipped, it is not installed"; fi; \
	done

.venv-%/tested: .venv-%/installed
	HYPOTHESIS_PROFILE=few .venv-$*/bin/python $(QUICK)

# Wheel and sdist in build/dist, the same bytes when they are built again, with metadata, workflows and recipe that agree. With TAG=v0.1.0
# that tag and the changelog must be of this version.
release-check: .venv-docs/installed
	.venv-docs/bin/python -m tools.release build/dist

# What is published, in an environment that has nothing else.
wheel: release-check
	rm -rf build/wheel && $(PYTHON) -m venv build/wheel
	build/wheel/bin/pip install --quiet "$$(ls build/dist/*.whl)[report]"
	cd build/wheel && env -u PYTHONPATH bin/python -I ../../tools/smoke.py

# The how-to pages with packages that the tests do not install: XGBoost, LightGBM, skore, evaluate. 2.5 GB; not part of `make test-all`.
INTEGRATIONS = gradient-boosting.md or skore.md or evaluate.md
integrations: .venv-integrations/installed
	.venv-integrations/bin/python -m pytest -q tests/test_how_to.py -k "$(INTEGRATIONS)" -rs

# The documentation, all pages anew (-E: its search loses entries of pages that are not read again), with every warning an error,
# and whether its search finds what people type and its links lead somewhere.
docs: .venv-docs/installed
	.venv-docs/bin/sphinx-build -E -W --keep-going -b html docs docs/_build/html
	.venv-docs/bin/python -m tools.pages.search docs/_build/html
	.venv-docs/bin/python -m tools.pages.links docs/_build/html

# The claims, tables and figures of each paper, from the data in $$CALIBRANT_DATA (or ../shared/data). Each states its time
# beforehand, shows progress, goes on where it was stopped, and fails where a claim says more than its numbers or where a mutant
# does not change its verdict. `make papers` is all five, half an hour on one core, and docs/claims.md.
papers: reproduce-survey reproduce-top-label reproduce-na reproduce-tce reproduce-roc
	$(MAKE) claims

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

# docs/claims.md, from what those commands stored. `$(BIN)/python -m studies survey` measures the mutants of a paper alone.
claims: .venv/installed
	$(BIN)/python -m studies

# Without ONLY the whole page; with ONLY="ece plain-metrics" those sections of it, and the others stay.
bench: .venv-bench/installed
	.venv-bench/bin/python -m benchmarks $(if $(ONLY),$(addprefix --only ,$(ONLY)) --into,--output) docs/benchmarks.md

# Predictions, every calibrator and peer on them, and docs/arena.md. A run that was stopped goes on. PART=kept-apart runs the data
# sets that no method is designed on: once the design is frozen. MINUTES stops earlier.
PART ?= design
arena: .venv-bench/installed
	.venv-bench/bin/python -m studies.arena.out_of_fold --part $(PART)
	.venv-bench/bin/python -m studies.arena --part $(PART) $(if $(MINUTES),--minutes $(MINUTES))
	.venv-bench/bin/python -m studies.arena.results
	.venv-bench/bin/python -m studies.arena.page

# docs/scale.md: large files, by calibrant and others; LARGEST=10000000 leaves out the largest.
scale: .venv-bench/installed
	.venv-bench/bin/python -m benchmarks.scale $(if $(LARGEST),--largest $(LARGEST)) --output docs/scale.md

# DRAWS calls and files that SEED draws: the same on every machine that does each in ten minutes.
robust: .venv/installed
	$(BIN)/python -m tools.fuzz 600 $(SEED) --most $(DRAWS)
	$(BIN)/python -m tools.mutate_files 600 $(SEED) --most $(DRAWS)

# How many small changes to the source `make test` notices. About 25 minutes; not part of `make test-all`.
mutation: .venv/installed
	$(BIN)/python -m tools.mutation 200 --seed $(SEED)

.venv/installed: pyproject.toml
	$(PYTHON) -m venv .venv
	$(BIN)/pip install --quiet --editable '.[test]'
	touch $@

.venv-min/installed: pyproject.toml tools/minimum_versions.py
	$(PYTHON) -m venv .venv-min
	$(PYTHON) tools/minimum_versions.py > .venv-min/constraints.txt
	echo "pyparsing<3.3" >> .venv-min/constraints.txt # the oldest matplotlib calls what later ones warn of
	.venv-min/bin/pip install --quiet --constraint .venv-min/constraints.txt --editable '.[test]'
	touch $@

.venv-3.%/installed: pyproject.toml
	python3.$* -m venv .venv-3.$*
	.venv-3.$*/bin/pip install --quiet --editable '.[test]'
	touch $@

.venv-docs/installed: pyproject.toml
	$(PYTHON) -m venv .venv-docs
	.venv-docs/bin/pip install --quiet --editable '.[docs,release]'
	touch $@

.venv-integrations/installed: pyproject.toml
	$(PYTHON) -m venv .venv-integrations
	.venv-integrations/bin/pip install --quiet --editable '.[test,integrations]'
	touch $@

.venv-bench/installed: pyproject.toml
	$(PYTHON) -m venv .venv-bench
	.venv-bench/bin/pip install --quiet --editable '.[bench]'
	touch $@

clean:
	rm -rf .venv .venv-* demo build dist docs/_build
