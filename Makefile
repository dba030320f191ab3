# python3 and make are enough: each target creates a virtual environment and installs what it needs.
# Another interpreter gets an environment of its own: make test PYTHON=python3.12 uses .venv-python3.12.
PYTHON ?= python3
VENV := $(if $(filter python3,$(PYTHON)),.venv,.venv-$(notdir $(PYTHON)))
BIN := $(VENV)/bin
RUN ?= python

# The tests of the core, which also run at the lowest versions and on the reference kernels.
CORE := $(wildcard tests/estimators tests/information tests/kernels tests/linalg)
BASICS := tests/metrics tests/retrospect tests/cli/test_store.py tests/cli/test_verify.py

# One BLAS thread per worker: the workers share the cores.
PYTEST := -m pytest -n auto
test test-lowest test-reference retrospect: export OPENBLAS_NUM_THREADS := 1

# OpenBLAS chooses the kernels that it is measured with, whatever the environment says.
bench accuracy: export OPENBLAS_CORETYPE :=
bench accuracy: export OPENBLAS_L2_SIZE :=

# Tests and campaigns start thousands of processes: each would compile every module again without cached bytecode.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help demo test test-lowest test-reference check lint docs docs-check flow torture mutants bench accuracy readme paper \
        retrospect designs classes reproduction clean

help: ## List the targets.
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "make %-16s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

demo: $(VENV)/report ## Compare every method on the bundled penguins and write a report.
	$(BIN)/ridgeway compare penguins --target body_mass_g --task-column island,year --out build/report

test: $(VENV)/test ## Run the tests. PYTHON=python3.12 runs them on that version.
	$(BIN)/$(RUN) $(PYTEST)

# The oldest versions have no wheels for Python 3.13 and later.
test-lowest: .venv-lowest/test ## Run the core tests at the lowest supported versions (Python 3.11 or 3.12).
	.venv-lowest/bin/python $(PYTEST) $(CORE) $(BASICS)

test-reference: $(VENV)/test ## Run the core tests on the reference kernels.
	RIDGEWAY_KERNELS=reference $(BIN)/python $(PYTEST) $(CORE)

check: lint ## Run everything that CI runs: lint, tests with coverage, both sets of core tests, docs.
	$(BIN)/coverage erase
	$(MAKE) test RUN='coverage run'
	$(BIN)/coverage combine --quiet
	$(BIN)/coverage report
	$(MAKE) test-reference
	$(MAKE) test-lowest
	$(MAKE) docs

lint: $(VENV)/check $(VENV)/docs ## Check format, style, types and layers.
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

docs: $(VENV)/docs ## Build the documentation in build/docs. Warnings are errors.
	$(BIN)/sphinx-build --quiet --fail-on-warning --keep-going --fresh-env docs build/docs
	$(BIN)/python tests/pages/links.py build/docs
	@echo 'Open build/docs/index.html'

# The validator needs npm and Java, the pages need Chromium; what is missing is left out.
docs-check: docs ## Validate the built pages, and open each in a browser at two widths and in two themes.
	$(BIN)/python tests/pages/validity.py build/docs
	$(BIN)/python tests/pages/looks.py build/docs

flow: $(VENV)/test ## Print the functions that a task passes through, as a call tree.
	$(BIN)/python -m benchmarks.flow

# Linux only; some parts need a C compiler and root.
torture: $(VENV)/test ## Run the fault campaign on the state file (up to an hour).
	$(BIN)/python -m torture --page

mutants: $(VENV)/test ## Change the mathematics in small ways: each change must be noticed (about 8 minutes).
	$(BIN)/python -m mutants

bench: accuracy ## Time ridgeway and its peers on an otherwise idle machine. FULL=1 runs every size.
	$(BIN)/python -m benchmarks $(if $(FULL),--full)
	$(BIN)/python -m benchmarks.simulation $(if $(FULL),--full)

accuracy: $(VENV)/bench ## Write docs/accuracy.md: correct digits, ours and those of peers.
	$(BIN)/python -m benchmarks.accuracy docs/accuracy.md

readme: $(VENV)/report ## Draw the picture of the README.
	$(BIN)/python docs/make_readme.py

paper: $(VENV)/check ## Write the table and figures of docs/paper.md (about 10 minutes).
	$(BIN)/python docs/make_paper.py

retrospect: $(VENV)/check ## Write the simulations, table and figures of docs/retrospect.md (about 15 minutes).
	$(BIN)/python -m benchmarks.retrospect
	$(BIN)/python docs/make_retrospect.py

designs: $(VENV)/test ## Decide the rank of 20,000 hard designs, against extended precision (about 5 minutes).
	$(BIN)/python -m benchmarks.designs

# Each folder has the four files of its data set, gzipped or not. About 20 minutes on two cores.
classes: $(VENV)/check ## Learn images class by class: MNIST=folder FASHION=folder. Writes docs/classification.md.
	$(BIN)/python -m benchmarks.classes --mnist '$(MNIST)' --fashion '$(FASHION)'
	$(BIN)/python docs/make_classes.py

reproduction: $(VENV)/simulation ## Repeat the experiments of the paper and write docs/reproduction.md.
	rm -rf build/reproduction
	$(BIN)/ridgeway reproduce --out build/reproduction
	sed 's#(figure-#(images/figure-#' build/reproduction/reproduction.md > docs/reproduction.md
	cp build/reproduction/figure-?.png docs/images/

clean: ## Remove the virtual environments and all build products.
	rm -rf .venv .venv-* build dist .coverage*

# The file .venv/EXTRA says that the extra EXTRA is installed.
define install
test -x $(@D)/bin/python || $(PYTHON) -m venv $(@D)
$(@D)/bin/python -m pip --disable-pip-version-check install --quiet --constraint $(1) --editable '.[$(@F)]'
@touch $@
endef

$(VENV)/%: pyproject.toml constraints.txt
	$(call install,constraints.txt)

.venv-lowest/%: pyproject.toml constraints-lowest.txt
	$(call install,constraints-lowest.txt)
