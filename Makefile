# Two commands on a fresh machine: `make demo` and `make test`. Both set up everything they need in .venv.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet
REQUIRE_ALL ?=
export REQUIRE_ALL

.PHONY: demo test check fix bench soak docs golden clean help

help: ## list the targets
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*## /\t/'

demo: $(VENV)/.run-ready ## set up, then run a whole review with no key and no network
	@$(BIN)/counterpoint demo

test: $(VENV)/.dev-ready ## set up, then the whole gate and every test
	@$(MAKE) --no-print-directory check

check: $(VENV)/.dev-ready ## the gate: format, lint, types, layers, tests, coverage floors
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache
	$(BIN)/python -m tests.gate

fix: $(VENV)/.dev-ready ## format and mend what ruff can mend
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

golden: $(VENV)/.dev-ready ## rewrite the golden files; review them as a diff
	GOLDEN=write $(BIN)/python -m pytest -q tests/golden tests/docs

docs: $(VENV)/.dev-ready ## regenerate docs/cli.md and the schemas, then run every code block
	$(BIN)/python -m counterpoint.cli.reference docs
	$(BIN)/python -m pytest -q tests/docs

bench: $(VENV)/.dev-ready ## print every benchmark
	@for f in benchmarks/*.py; do echo "== $$f"; $(BIN)/python $$f || exit 1; done

soak: $(VENV)/.dev-ready ## long loops and fuzzing
	$(BIN)/python -m pytest -q -m soak

$(VENV)/bin/python:
	@$(PYTHON) -c 'import sys; v = sys.version_info[:2]; sys.exit(v < (3, 11) and f"Python {v[0]}.{v[1]} found, 3.11 or newer needed: run make PYTHON=/path/to/python3.11")'
	@$(PYTHON) -m venv $(VENV)

$(VENV)/.run-ready: pyproject.toml requirements/run.txt requirements/build.txt | $(VENV)/bin/python
	@echo "setting up $(VENV)"
	@$(PIP) install --require-hashes -r requirements/run.txt -r requirements/build.txt
	@$(PIP) install --no-deps --no-build-isolation --no-index -e .
	@touch $@

$(VENV)/.dev-ready: $(VENV)/.run-ready requirements/dev.txt
	@echo "setting up the tools"
	@$(PIP) install --require-hashes -r requirements/dev.txt
	@touch $@

clean: ## remove what the targets above made
	rm -rf $(VENV) dist build .coverage .coverage.* .mypy_cache .ruff_cache .pytest_cache .hypothesis
