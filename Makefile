# Each target installs what it needs into .venv: python3 and make are enough.
PYTHON ?= python3
BIN := .venv/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check install --quiet

.PHONY: demo test check bench accuracy clean

demo: .venv/plot
	$(BIN)/python examples/demo.py

test: .venv/test
	$(BIN)/python -m pytest -n auto

check: .venv/check
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/coverage erase
	COVERAGE_PROCESS_START=pyproject.toml $(BIN)/coverage run -m pytest -n auto
	$(BIN)/coverage combine --quiet
	$(BIN)/coverage report

bench: accuracy

accuracy: .venv/bench
	$(BIN)/python -m benchmarks.accuracy docs/accuracy.md

.venv/%: pyproject.toml constraints.txt
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(PIP) --constraint constraints.txt --editable '.[$*]'
	@touch $@

clean:
	rm -rf .venv build dist .coverage*
