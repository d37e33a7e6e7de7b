#!/bin/sh
# Tests of the Python package, installed as a user would install it, in a virtual environment under build/.
set -eu
cd "$(dirname -- "$0")/.."
venv=build/venv
[ -x "$venv/bin/python" ] || python3 -m venv "$venv"
"$venv/bin/pip" install -q --disable-pip-version-check pytest pytest-asyncio ./bindings/python
exec "$venv/bin/python" -m pytest -q -p no:cacheprovider bindings/python/tests
