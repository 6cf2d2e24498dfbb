# Needs make and CPython 3.11 or newer, nothing else; `make help` lists the targets.

# Another interpreter: make PYTHON=/path/to/python3.12 test
PYTHON ?=
# More extras for the tests: make EXTRAS=dev,torch test
EXTRAS ?= dev
# Test processes; not the number of cores, so that runs look alike everywhere.
WORKERS ?= 2
# Options for the command: make COMPARE_ARGS='--objective makespan' compare
COMPARE_ARGS ?=

MAKEFLAGS += --no-print-directory
VENV := .venv
BIN := $(VENV)/bin
CONSTRAINTS := requirements/constraints.txt
PIP_INSTALL := $(BIN)/python -m pip --disable-pip-version-check install -qq \
	--constraint $(CONSTRAINTS)
PYTEST := $(BIN)/python -m pytest --numprocesses $(WORKERS) --dist loadfile \
	--hypothesis-profile=ci
CORE := $(VENV)/.stamp-core
DEV := $(VENV)/.stamp-$(EXTRAS)

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help compare test test-full oracle bench lint format types floors \
	style installed venv clean distclean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## /{printf "  make %-10s %s\n", $$1, $$2}' \
		$(firstword $(MAKEFILE_LIST))

compare: $(CORE) ## compare the schedulers to the optimum; report in build/compare
	$(BIN)/placement-lab compare --out build/compare $(COMPARE_ARGS)

test: lint ## style, types, import floors, and the test suite
	$(PYTEST) -m "not slow"

test-full: lint ## the same, and the tests marked slow
	$(PYTEST)

oracle: $(DEV) ## exact solvers against brute force, on many tiny instances
	$(PYTEST) -k oracle

bench: $(DEV) ## the benchmarks
	$(BIN)/python -m pytest benchmarks -q

lint: style types floors ## style, types and import floors alone

format: $(DEV) ## rewrite the code in the project's style
	$(BIN)/ruff check --fix-only --quiet .
	$(BIN)/ruff format --quiet .

venv: $(DEV) ## only make .venv, with everything for development

clean: ## remove what was built, but not .venv
	rm -rf build *.egg-info .mypy_cache .pytest_cache .ruff_cache .hypothesis \
		.import_linter_cache .benchmarks
	find . -name __pycache__ -not -path './.venv*' -prune -exec rm -rf {} +

distclean: clean ## remove .venv as well
	rm -rf $(VENV)

style: $(DEV)
	$(BIN)/ruff check --quiet .
	$(BIN)/ruff format --check --quiet .

# mypy and import-linter cannot see through the editable mapping of the folders:
# they run on a second, installed copy, from another folder.
installed: $(DEV)
	@rm -rf build/installed build/lib build/bdist.*
	@$(PIP_INSTALL) --no-deps --no-build-isolation --target build/installed .

types: installed
	cd build && MYPYPATH=installed ../$(BIN)/mypy --config-file ../pyproject.toml \
		-p placement_lab

floors: installed
	cd build && PYTHONPATH=installed ../$(BIN)/lint-imports --no-cache --no-logo \
		../pyproject.toml

$(VENV)/.stamp-venv:
	@set -e; \
	for python in $(or $(PYTHON),python3.11 python3.12 python3.13 python3 python); do \
		if "$$python" -c 'import ensurepip, sys; \
			sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then \
			echo "creating $(VENV) with $$("$$python" --version)"; \
			"$$python" -m venv --clear $(VENV); \
			touch $@; \
			exit 0; \
		fi; \
	done; \
	echo "no CPython >= 3.11 that can make a virtual environment was found" \
		"(tried: $(or $(PYTHON),python3.11 python3.12 python3.13 python3 python));" \
		"install one, with its venv module, or name it: make PYTHON=..." >&2; \
	exit 1

# A second `make` finds the stamps and installs nothing.
$(CORE): $(VENV)/.stamp-venv pyproject.toml $(CONSTRAINTS)
	@echo "installing placement-lab into $(VENV) (some minutes, once)"
	@$(PIP_INSTALL) setuptools
	@$(PIP_INSTALL) --no-build-isolation --editable .
	@touch $@

$(DEV): $(VENV)/.stamp-venv pyproject.toml $(CONSTRAINTS)
	@echo "installing placement-lab[$(EXTRAS)] into $(VENV) (some minutes, once)"
	@$(PIP_INSTALL) setuptools
	@$(PIP_INSTALL) --no-build-isolation --editable '.[$(EXTRAS)]'
	@touch $(CORE) $@
