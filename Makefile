# Nothing but Python >= 3.11, git and make is needed. `make run` and `make test` build .venv first.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
PIP    := $(BIN)/python -m pip --disable-pip-version-check --quiet
# pip compiles what it installs but not this folder, and where PYTHONDONTWRITEBYTECODE is set every process would do so anew.
# compileall passes over links to folders, which the rooms of the package are, unless each is named.
COMPILE = $(BIN)/python -m compileall -q -j 0 eval_skills eval_skills/*/
RUN_ARGS ?=
# Two more than two cores: they fill the time in which tests wait.
WORKERS ?= 4
# The workers are forks of one process, which imports once what each of them would. A file stays on one worker, with what its tests share; files begin in their order, so that the long ones do not come last.
PYTEST = $(BIN)/python -m pytest -n $(WORKERS) --forked-workers --dist loadfile --no-loadscope-reorder $(PYTEST_ARGS)
# Tests with real servers and time limits can fail for the others that run beside them; those are named, and run once more alone.
# pytest says 1 where tests failed: whatever else ended it stays a failure.
ALONE  = { test $$? = 1 && echo "once more, one at a time:" && $(BIN)/python -m pytest --last-failed --last-failed-no-failures none $(PYTEST_ARGS); }
# Flows need a Prefect server, the end-to-end tests browsers, brokers and many processes.
QUICK  = -m "not slow" --hypothesis-profile=quick $(addprefix --ignore=tests/,end_to_end flows tasks)

.DEFAULT_GOAL := help
.PHONY: help run run-agent-skill test test-all checks lint types imports benchmark simulate docs docs-serve picture clean

help:  ## Show this list
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 14

run: $(VENV)/.runtime  ## Evaluate the bundled example skills on coding-easy, 3 runs each
	$(BIN)/eval-skills run --skills-dir examples/skills --benchmark coding-easy --runs 3 --top-k 3 --min-completion 0.7 \
		--format json markdown csv --output-dir reports --store eval-store $(RUN_ARGS)

run-agent-skill: $(VENV)/.runtime  ## Does an Agent Skill help? All four arms, on a scripted model: nothing but loopback
	@$(BIN)/python examples/agent-skills/scripted_model.py -- $(BIN)/eval-skills skill-effect examples/agent-skills/sales-report \
		--arms with without old sham --old examples/agent-skills/earlier/sales-report \
		--agent builtin --model openai/scripted --base-url "{address}" --api-key-env SCRIPTED_MODEL_KEY \
		--runs 3 --format json markdown html --output-dir reports --store eval-store $(RUN_ARGS)

test: export PYTHONDONTWRITEBYTECODE =
test: $(VENV)/.dev  ## Linters, type check, import contracts, everything below the flows, and one run end to end: 3 minutes on two cores
	@$(call beside_checks,$(PYTEST) $(QUICK))

test-all: export PYTHONDONTWRITEBYTECODE =
test-all: $(VENV)/.dev  ## All of that, and every test there is: 16 minutes on two slow cores
	@$(call beside_checks,$(PYTEST) || $(ALONE))

# The checks use the core that the tests leave while they collect; what they say is shown when both have ended.
define beside_checks
$(MAKE) --no-print-directory --keep-going checks >$(VENV)/checks.log 2>&1 & checks=$$!; \
$(1); tests=$$?; wait $$checks; checks=$$?; cat $(VENV)/checks.log; test $$tests = 0 && test $$checks = 0
endef

checks: lint types imports

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

simulate: $(VENV)/.dev  ## How often verdicts are wrong: writes the tables of the statistics page (some minutes)
	$(BIN)/python -m tests.simulations

docs: $(VENV)/.dev  ## Build the documentation into build/site, strictly
	$(BIN)/python -m docs.generate
	$(BIN)/zensical build --strict --clean
	$(BIN)/python -m docs.offline build/site

docs-serve: $(VENV)/.dev  ## Show the documentation while it is written
	$(BIN)/python -m docs.generate
	$(BIN)/zensical serve

picture: $(VENV)/.dev  ## Draw the rooms for CONTRIBUTING from the imports
	$(BIN)/python -m docs.picture

clean:  ## Remove everything that was built or written
	rm -rf $(VENV) .bench build dist *.egg-info reports eval-store .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis .cache

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
