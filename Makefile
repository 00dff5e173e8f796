# The commands of daily work; `make help` lists them. Set-up happens on first use and is stamped.
#
#   PYTHON=python3     the Python that makes the virtual environment
#   VENV=.venv         the virtual environment; VENV=none uses PYTHON as it is and installs nothing
#   BUILD=build/release
#   JOBS=2             parallel compilations (default: one per core)
SHELL := /bin/sh
.DEFAULT_GOAL := help

PYTHON ?= python3
VENV ?= .venv
BUILD ?= build/release
JOBS ?= $(shell nproc)

ifeq ($(VENV),none)
  PY := $(PYTHON)
  setup_stamp :=
  lint_stamp :=
else
  PY := $(VENV)/bin/python
  setup_stamp := $(VENV)/.stamp-setup
  lint_stamp := $(VENV)/.stamp-lint
endif

.PHONY: help setup configure build test demo bench fuzz lint format asan clean

help:  ## list these commands
	@awk -F ':.*## ' '/^[a-z]+:.*## /{printf "  make %-8s %s\n", $$1, $$2}' Makefile
	@echo "  PYTHON=... VENV=none builds against an already installed torch, without a network"

$(VENV)/.stamp-setup: tools/setup.sh tools/requirements-build.txt tools/requirements-test.txt tools/requirements-model.txt
	@tools/setup.sh system $(PYTHON)
	@tools/setup.sh venv $(PYTHON) $(VENV)
	@touch $@

$(VENV)/.stamp-lint: $(setup_stamp) tools/requirements-lint.txt
	@tools/setup.sh lint $(PY)
	@touch $@

setup: $(setup_stamp)  ## install what is missing and make the virtual environment (the others do this as well)

configure: $(setup_stamp)
	@tools/configure.sh release $(BUILD) $(PY)

build: configure  ## build the library, the Python extension, the tests, benchmarks and examples
	@cmake --build $(BUILD) -j $(JOBS)

test: build  ## build, then run every test; ends with the totals
	@$(PY) tools/run_tests.py --build $(BUILD)

demo: build  ## a tensor-parallel transformer block on two processes, then on one
	@PYTHONPATH=$(BUILD)/python sh examples/run_demo.sh $(PY) $(BUILD)/examples

bench: build  ## run all benchmarks
	@$(PY) tools/run_benchmarks.py --build $(BUILD)

fuzz: build  ## random fusions, compiled and evaluated: COUNT=200 SEED=0 SECONDS=1e9
	@PYTHONPATH=$(BUILD)/python $(PY) tests/fuzz/fuzz.py --count $(or $(COUNT),200) --seed $(or $(SEED),0) \
	  --seconds $(or $(SECONDS),1e9) --jobs $(JOBS)

lint: $(lint_stamp)  ## formatting, clang-tidy, ruff, mypy and the layer checker
	@tools/configure.sh lint build/lint $(PY)
	@$(PY) tools/lint.py --jobs $(JOBS)

format: $(lint_stamp)  ## rewrite the files as `make lint` wants them formatted
	@$(PY) tools/lint.py --fix

asan: $(setup_stamp)  ## C++ tests under the address, undefined-behaviour and thread sanitizers
	@tools/configure.sh asan build/asan $(PY)
	@cmake --build build/asan -j $(JOBS)
	@tools/configure.sh tsan build/tsan $(PY)
	@cmake --build build/tsan -j $(JOBS)
	@ctest --preset asan
	@ctest --preset tsan

clean:  ## remove everything that was built (the virtual environment stays)
	rm -rf build dist
