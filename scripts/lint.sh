#!/bin/sh
# Format and lint of every language; each line that fails is shown, the exit code says whether any did.
set -u
cd "$(dirname -- "$0")/.."
status=0
step() {
  name=$1
  shift
  if output=$("$@" 2>&1); then echo "== lint: $name ok"; else echo "== lint: $name"; echo "$output" | tail -n 60; status=1; fi
}

step "format (biome)" node_modules/.bin/biome format .
step "types of tests" node_modules/.bin/tsc -p tsconfig.test.json
step "eslint" node_modules/.bin/eslint --max-warnings 0 src test benchmarks scripts ./*.ts ./*.js
if command -v clang-format-19 >/dev/null; then
  step "format (clang-format)" sh -c "find native \( -name '*.cc' -o -name '*.h' -o -name '*.c' \) | xargs clang-format-19 --dry-run -Werror"
else
  echo "== lint: clang-format-19 is missing: C and C++ format not checked"
fi
if command -v clang-tidy-19 >/dev/null; then
  step "clang-tidy" sh -c "find native/monitor -name '*.cc' | xargs -P 2 -n 4 sh -c 'clang-tidy-19 --quiet \"\$@\" -- -std=c++20 -Inative 2>&1' tidy"
else
  echo "== lint: clang-tidy-19 is missing: C++ not linted"
fi
python=build/venv/bin/python
if scripts/python-venv.sh ruff mypy; then
  step "ruff" "$python" -m ruff check --no-cache bindings/python modules
  step "ruff format" "$python" -m ruff format --no-cache --check bindings/python modules
  step "mypy" "$python" -m mypy --strict --no-incremental bindings/python/shinken_gym
else
  echo "== lint: no virtual environment: Python not linted"
  status=1
fi
exit $status
