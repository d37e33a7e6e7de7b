#!/bin/sh
# Tests of the Python package in a virtual environment under build/.
set -eu
cd "$(dirname -- "$0")/.."
scripts/python-venv.sh
exec build/venv/bin/python -m pytest -q -p no:cacheprovider bindings/python/tests
