# All tasks of the project. Set-up runs again only if its inputs changed:
# each step leaves a stamp file in .venv.

.DEFAULT_GOAL := help
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DELETE_ON_ERROR:
.NOTPARALLEL: # pytest runs last, so that its summary is the last line

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMPS := $(VENV)/stamps
FUZZ_SECONDS ?= 60
SOAK_EXAMPLES ?= 20000
UV_VERSION := 0.13.7
CARGO_FUZZ_VERSION := 0.13.2

# pyo3 builds for this interpreter, the one that will load the module.
export PYO3_PYTHON := $(CURDIR)/$(BIN)/python
export VIRTUAL_ENV := $(CURDIR)/$(VENV)
export PATH := $(CURDIR)/$(BIN):$(CURDIR)/.cache/cargo/bin:$(PATH)

RUST := Cargo.toml Cargo.lock $(shell find crates -name '*.rs' -o -name Cargo.toml)
CODE := python/quire tests $(wildcard tools/*.py)
# No test binary for quire-python: it would have to link libpython, which may
# be missing. The Python tests cover it.
CRATES := --workspace --exclude quire-python

## Getting started

help: ## list these tasks
	@awk -F ':.*## ' '/^## /{printf "\n%s\n", substr($$0, 4)} /^[a-z-]+:.*## /{printf "  make %-12s %s\n", $$1, $$2}' Makefile

run: $(STAMPS)/package ## start the service with a small site that changes by itself
	$(BIN)/quire serve --demo

tour: $(STAMPS)/package ## encode, compare and store the pages of a small site
	$(BIN)/python -m quire.demo

build: $(STAMPS)/package ## create .venv with the pinned tools and the package

pgo: $(STAMPS)/tools ## build a wheel into dist with a profile of itself: faster, for twice the build time
	PYTHON=$(CURDIR)/$(BIN)/python bash tools/pgo_wheel.sh

## Checking

test: $(STAMPS)/system test-rust lint test-python ## run every check and every test

test-rust: ## run the unit tests and doc examples of the kernels
	cargo test --locked --quiet $(CRATES)

test-python: $(STAMPS)/package ## run the tests of the package, its docstrings and the docs
	$(BIN)/pytest -n auto --dist loadgroup # one process for each core; tests of one group share theirs

lint: $(STAMPS)/package ## check formatting, types, import contracts and clippy
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy $(CODE)
	$(BIN)/basedpyright --verifytypes quire --ignoreexternal # uses the first python on PATH to find quire, and fails if there is none
	$(BIN)/python -m mypy.stubtest --mypy-config-file pyproject.toml quire._core._native
	$(BIN)/lint-imports --no-cache
	cargo fmt --all --check
	cargo clippy --locked --quiet --workspace --all-targets -- -D warnings
	@if cargo tree --locked -p quire-core -e normal | grep -q pyo3; then echo 'error: quire-core depends on pyo3; kernels must not use Python' >&2; exit 1; fi

format: $(STAMPS)/tools ## fix the formatting
	$(BIN)/ruff check --fix-only --quiet
	$(BIN)/ruff format
	cargo fmt --all

## Measuring and looking for bugs

bench: $(STAMPS)/package $(STAMPS)/bench ## run the benchmarks (BENCH="encode load" for some), with the rivals in the same run
	$(BIN)/python benchmarks/run.py $(BENCH)

bench-short: $(STAMPS)/system $(STAMPS)/package $(STAMPS)/bench ## run the experiments of the papers on small samples, in less than 20 minutes; results and pages go to benchmarks/results/quick
	$(BIN)/python benchmarks/run.py --quick --papers

fuzz: .cache/cargo/bin/cargo-fuzz ## run every fuzz target for FUZZ_SECONDS (default: 60), on nightly Rust
	cd fuzz && for target in $$(cargo +nightly fuzz list); do \
	  mkdir -p "corpus/$$target"; \
	  cargo +nightly fuzz run "$$target" "corpus/$$target" "seeds/$$target" -- \
	    -dict=markup.dict -max_len=4096 -malloc_limit_mb=256 -max_total_time=$(FUZZ_SECONDS) -timeout=10; \
	done

soak: $(STAMPS)/system $(STAMPS)/package ## run property tests on SOAK_EXAMPLES (default: 20000) examples, every crash of an archive, and kills of the service
	SOAK_EXAMPLES=$(SOAK_EXAMPLES) $(BIN)/pytest -n auto -m hypothesis --hypothesis-profile=soak --timeout=0
	CRASH_SOAK=1 $(BIN)/pytest -n auto --dist worksteal tests/archive/crash --timeout=0
	KILL_SOAK=1 $(BIN)/pytest tests/sentinels/kills --timeout=0

## Housekeeping

screenshots: $(STAMPS)/system $(STAMPS)/package ## take the pictures of the README and the guides; two minutes
	$(BIN)/python tools/readme_picture.py
	$(BIN)/python tools/screenshots.py

lock: ## update requirements/*.txt from *.in and pyproject.toml (UPGRADE=1: newest versions)
	$(PYTHON) -m venv .cache/lock
	.cache/lock/bin/pip install --quiet uv==$(UV_VERSION)
	.cache/lock/bin/uv pip compile $(COMPILE) -o requirements/dev.txt pyproject.toml requirements/dev.in
	.cache/lock/bin/uv pip compile $(COMPILE) -o requirements/bench.txt requirements/bench.in

clean: ## remove everything that make created
	rm -rf $(VENV) .cache target fuzz/target .mypy_cache .pytest_cache .ruff_cache .hypothesis
	find python tests benchmarks tools -name __pycache__ -prune -exec rm -rf {} + 2>/dev/null || true
	rm -f python/quire/_core/_native*.so

# Universal: one file works on every system and Python. The files contain no
# index address, only packages and their hashes.
COMPILE := --quiet --no-config --universal --python-version 3.11 --generate-hashes \
           --no-emit-index-url --no-emit-find-links --custom-compile-command 'make lock' \
           $(if $(UPGRADE),--upgrade)

$(STAMPS)/venv:
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "error: Python 3.11 or later is needed")'
	$(PYTHON) -m venv $(VENV)
	mkdir -p $(STAMPS)
	touch $@

$(STAMPS)/tools: requirements/dev.txt | $(STAMPS)/venv
	$(BIN)/pip install --quiet --disable-pip-version-check --require-hashes -r requirements/dev.txt
	touch $@

$(STAMPS)/bench: requirements/bench.txt $(STAMPS)/tools
	$(BIN)/pip install --quiet --disable-pip-version-check --require-hashes -r requirements/bench.txt
	touch $@

$(STAMPS)/package: $(STAMPS)/tools pyproject.toml $(RUST)
	$(BIN)/maturin develop --release --quiet
	touch $@

$(STAMPS)/system: tools/debian-packages.txt tools/install_debian_packages.sh | $(STAMPS)/venv
	bash tools/install_debian_packages.sh
	touch $@

.cache/cargo/bin/cargo-fuzz:
	cargo install --quiet --locked --root .cache/cargo cargo-fuzz --version $(CARGO_FUZZ_VERSION)

.PHONY: help run tour build pgo test test-rust test-python lint format bench bench-short fuzz soak screenshots lock clean
