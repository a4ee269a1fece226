# From a fresh checkout: `make demo` and `make test`. Needed: Python 3.11 or later, cargo, make; for the lab iproute2.

PYTHON ?= python3
UV := $(or $(shell command -v uv 2>/dev/null),.tools/bin/uv)
BIN := .venv/bin
ENGINE := --manifest-path engine/Cargo.toml
# Fully static, so that it can be copied to any Linux host of this architecture.
STATIC := $(shell uname -m)-unknown-linux-musl
FUZZ_SECONDS ?= 60
SLOWEST := --durations=10
PYTEST := $(BIN)/pytest $(SLOWEST) --dist=loadfile --no-loadscope-reorder
# Most tests wait for deadlines and traffic: more of them run at a time than there are processors.
CARGO_TEST := env RUST_TEST_THREADS=8 cargo test --quiet --no-fail-fast $(ENGINE)
# Built for once, without what serves the next build and lines in backtraces (`cargo test` has both): a fifth less. Exported, since
# tests/lab/test_noop.py has cargo build, too: with other settings that would be all of it once more.
test check: export CARGO_INCREMENTAL := 0
test check: export CARGO_PROFILE_DEV_DEBUG := 0
# All of it takes hours: make truth TRUTH='tests/truth/test_compare.py tests/truth/test_verdict.py' takes a part.
TRUTH ?= tests/truth

# Tests start hundreds of commands; without bytecode each of them compiles all that it imports again.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help setup demo test long check fuzz seeds truth lint format bench schema docs wheels clean python cargo

help: ## Say what can be made
	@sed -n 's/^\([a-z]*\):.*## \(.*\)/  make \1\t\2/p' $(MAKEFILE_LIST)

setup: python cargo $(UV) ## Build the engine and install everything into .venv
	@if command -v rustup >/dev/null; then \
	  rustup target list --installed | grep -qx $(STATIC) || rustup --quiet target add $(STATIC) || exit 1; \
	  CARGO_BUILD_TARGET=$(STATIC) $(UV) sync --locked; \
	else \
	  echo "rustup is not installed: the engine will need this host's C library, wherever it is copied to"; \
	  $(UV) sync --locked; \
	fi

demo: setup ## Measure an emulated link on this machine and write a report
	@$(BIN)/flowsweep demo

# Files that take longest come first in their folders, so that no processor waits for another at the end. Browsers are apart from lab
# tests: side by side, 13 of 149 of these failed, since links were late, and both took twice as long.
test: setup ## Run the tests, those with real packets and a browser included
	@.ci/test-tools
	@.ci/each.py '$(CARGO_TEST) --workspace --no-run' \
	  '$(CARGO_TEST) --workspace & $(PYTEST) --numprocesses=2 -m "together and not long" tests/lab & $(PYTEST) --numprocesses=3 -m "not lab and not long" tests/property tests/contract tests/unit' \
	  '$(PYTEST) --numprocesses=6 -m "not together and not quiet and not long" tests/lab' \
	  '$(BIN)/pytest $(SLOWEST) --numprocesses=3 --dist=worksteal -m "quiet and not long" tests/lab' \
	  '$(PYTEST) --numprocesses=auto -m "not long" tests/browser'

long: setup ## Run the tests that `make test` leaves out for the time they take
	@.ci/test-tools
	@.ci/each.py \
	  '$(PYTEST) --numprocesses=3 -m "long and not lab" tests/property tests/contract tests/unit' \
	  '$(PYTEST) --numprocesses=4 -m "long and not quiet" tests/lab' \
	  '$(BIN)/pytest $(SLOWEST) --numprocesses=3 --dist=worksteal -m "long and quiet" tests/lab' \
	  '$(BIN)/pytest $(SLOWEST) --numprocesses=auto --dist=worksteal -m long tests/browser'

check: setup ## Check format, types and habits, and run the quick tests: for while you write
	@.ci/each.py \
	  '$(BIN)/pytest $(SLOWEST) --quiet --numprocesses=auto --dist=loadfile -m "not lab and not whole and not long" tests/unit tests/contract & $(MAKE) --no-print-directory lint' \
	  '$(CARGO_TEST) --workspace --lib --bins'

fuzz: setup ## Make up what peers, archives and properties are tried with, for FUZZ_SECONDS each of three times
	@.ci/each.py 'engine/fuzz/run $(FUZZ_SECONDS)' '$(BIN)/python tests/fuzz/run.py $(FUZZ_SECONDS)' \
	  '$(BIN)/python tests/fuzz/properties.py $(FUZZ_SECONDS)'

seeds: cargo ## Play the inputs that are committed to the engine's fuzz targets
	@engine/fuzz/run 0 0

# As in continuous integration a skipped test is a failure: results that are not written again would look as if they were.
truth: setup ## Check what takes long (TRUTH: some of it); results go to docs/truth/
	@CI=1 .ci/test-tools
	CI=1 $(BIN)/pytest $(TRUTH)

lint: setup ## Check format, types, imports and habits
	cargo fmt $(ENGINE) --all --check
	cargo clippy --quiet $(ENGINE) --workspace --all-targets -- -D warnings
	@# Without a cache: the order of imports depends on which files there are, and a kept answer does not know that.
	$(BIN)/ruff check --no-cache
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/lint-imports
	@# Where it is not, every summary is computed by Ibis: what runs commands takes five times as long.
	@$(BIN)/python -c 'import sys; from flowsweep.prepared.statement import statement; sys.exit(not statement())' || \
	  { echo "src/flowsweep/prepared/summary.sql is not of this analysis: make schema" >&2; exit 1; }

format: setup ## Write all code in the common format
	cargo fmt $(ENGINE) --all
	$(BIN)/ruff check --fix-only
	$(BIN)/ruff format

# Some use what tests share. Each ends with another code than 0 where it misses what is wanted of it.
bench: setup ## Run the benchmarks, one after the other; the end says which missed their limits
	@PYTHONPATH=tests/support .ci/each.py \
	  $(foreach benchmark,$(shell grep -l __main__ bench/*.py),'$(BIN)/python $(benchmark)')

schema: setup ## Write schema/, the golden files and the generated pages of docs/ again, from the code
	@for generator in tools/regenerate_*.py; do echo "$$generator"; $(BIN)/python "$$generator" || exit 1; done
	@echo tools/write_reference.py; $(BIN)/python tools/write_reference.py

docs: setup ## Write the site of the documentation to build/site; every link must lead somewhere
	@NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict
	@echo "build/site/index.html"

wheels: python cargo $(UV) ## Build wheels of flowsweep and its engine, for x86_64 and aarch64, into dist/
	@$(PYTHON) tools/build_wheels.py --uv $(UV)

clean: ## Remove what was built and installed
	rm -rf .venv .tools engine/target engine/fuzz/target build dist flowsweep-demo .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache .grimp_cache

python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "Flowsweep needs Python 3.11 or later, and $(PYTHON) is not: install it (apt-get install python3), or name another one: make PYTHON=python3.12 …" >&2; exit 1; }

cargo:
	@command -v cargo >/dev/null || { echo "Flowsweep builds its engine with cargo, which is not installed: https://rustup.rs says how" >&2; exit 1; }

.tools/bin/uv:
	@echo "uv is not installed: installing it into .tools"
	@$(PYTHON) -m venv .tools || { rm -rf .tools; echo "this Python lacks venv: apt-get install python3-venv" >&2; exit 1; }
	@.tools/bin/pip install --quiet --disable-pip-version-check 'uv>=0.5'
