# Each target installs what it needs into .venv: python3 and make are enough.
PYTHON ?= python3
BIN := .venv/bin
RUN ?= python
PIP := $(BIN)/python -m pip --disable-pip-version-check install --quiet

.PHONY: demo test check docs torture bench accuracy paper reproduction retrospect clean

demo: .venv/report
	$(BIN)/ridgeway compare penguins --target body_mass_g --task-column island,year --out build/report

# One BLAS thread a worker: the workers share the cores.
test: .venv/test
	OPENBLAS_NUM_THREADS=1 $(BIN)/$(RUN) -m pytest -n auto

check: .venv/check .venv/docs
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/coverage erase
	$(MAKE) test RUN='coverage run'
	$(BIN)/coverage combine --quiet
	$(BIN)/coverage report
	$(MAKE) docs

# Some quarter of an hour on two cores; needs Linux, a C compiler and root for all of its parts.
torture: .venv/test
	$(BIN)/python -m torture --page

# A few minutes on two quiet cores; FULL=1 takes longer, with more rounds and all sizes.
bench: accuracy
	$(BIN)/python -m benchmarks $(if $(FULL),--full)
	$(BIN)/python -m benchmarks.simulation $(if $(FULL),--full)

accuracy: .venv/bench
	$(BIN)/python -m benchmarks.accuracy docs/accuracy.md

# Offline; warnings are errors. The pages are in build/docs.
docs: .venv/docs
	$(BIN)/sphinx-build --quiet --fail-on-warning --keep-going --fresh-env docs build/docs
	@echo 'The pages are in build/docs/index.html'

paper: .venv/check
	$(BIN)/python docs/make_paper.py

# The simulations behind docs/retrospect.md: some fifteen minutes.
retrospect: .venv/check
	OPENBLAS_NUM_THREADS=1 $(BIN)/python -m benchmarks.retrospect
	$(BIN)/python docs/make_retrospect.py

# The paper's experiments, run again: figures and verdicts, in the docs.
reproduction: .venv/simulation
	rm -rf build/reproduction
	$(BIN)/ridgeway reproduce --out build/reproduction
	sed 's#(figure-#(images/figure-#' build/reproduction/reproduction.md > docs/reproduction.md
	cp build/reproduction/figure-?.png docs/images/

.venv/%: pyproject.toml constraints.txt
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(PIP) --constraint constraints.txt --editable '.[$*]'
	@touch $@

clean:
	rm -rf .venv build dist .coverage*
