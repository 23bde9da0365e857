# Nothing but Python >= 3.11, git and make is needed. `make run` and `make test` build .venv first.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
PIP    := $(BIN)/python -m pip --disable-pip-version-check --quiet
# pip compiles what it installs but not this folder, and where PYTHONDONTWRITEBYTECODE is set every process would do so anew.
COMPILE = $(BIN)/python -m compileall -q -j 0 eval_skills
RUN_ARGS ?=
MARKERS ?= not slow
# One more than two cores: it fills the time in which tests wait.
WORKERS ?= 3

.DEFAULT_GOAL := help
.PHONY: help run test lint types imports benchmark clean

help:  ## Show this list
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 14

run: $(VENV)/.runtime  ## Evaluate the bundled example skills on coding-easy, 3 runs each
	$(BIN)/eval-skills run --skills-dir examples/skills --benchmark coding-easy --runs 3 --top-k 3 --min-completion 0.7 \
		--format json markdown csv --output-dir reports --store eval-store $(RUN_ARGS)

test: export PYTHONDONTWRITEBYTECODE =
test: lint types imports  ## Linters, type check, import contract and tests; MARKERS="slow or not slow" adds the slow sweeps
	$(BIN)/python -m pytest -n $(WORKERS) --dist loadgroup -m "$(MARKERS)" $(PYTEST_ARGS)

lint: $(VENV)/.dev  ## ruff
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/.dev  ## mypy, strict
	$(BIN)/mypy

imports: $(VENV)/.dev  ## The house's one direction, held by import-linter
	$(BIN)/lint-imports

benchmark: $(VENV)/.dev  ## The speed bars as ratios, beside what was measured here
	@$(COMPILE)
	$(BIN)/python -m tests.performance

clean:  ## Remove everything that was built or written
	rm -rf $(VENV) .bench build dist *.egg-info reports eval-store .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis

$(VENV)/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "eval-skills needs Python >= 3.11; this is " + sys.version.split()[0] + ". Try: make PYTHON=python3.11")'
	$(PYTHON) -m venv $(VENV)

$(VENV)/.runtime: $(VENV)/bin/python pyproject.toml constraints.txt
	@echo "installing the pinned dependencies into $(VENV) (once) ..."
	$(PIP) install --constraint constraints.txt --editable .
	@$(COMPILE)
	@touch $@

$(VENV)/.dev: $(VENV)/.runtime
	@echo "installing the developers' tools into $(VENV) (once) ..."
	$(PIP) install --constraint constraints.txt --editable '.[dev]'
	@touch $@
