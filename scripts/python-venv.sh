#!/bin/sh
# The virtual environment of the Python tests and lint, build/venv, with the package installed as a user would install it.
# pip asks the network only when the requirements have changed; after that all of this works with the network off.
#   scripts/python-venv.sh REQUIREMENT...
set -eu
cd "$(dirname -- "$0")/.."
venv=build/venv
package=bindings/python
mkdir -p build
[ -x "$venv/bin/python" ] || python3 -m venv "$venv"

# unless_done STAMP TEXT COMMAND...: runs the command unless it succeeded before for the same text.
unless_done() {
  stamp=$venv/$1
  text=$2
  shift 2
  [ "$(cat "$stamp" 2>/dev/null)" != "$text" ] || return 0
  rm -f "$stamp"
  "$@"
  echo "$text" >"$stamp"
}
install() { "$venv/bin/python" -m pip install -q --disable-pip-version-check "$@"; }

# The build back end too: an isolated build would fetch it anew for each change of the sources.
requirements="$* $(cksum "$package/pyproject.toml")"
unless_done "requirements-$(echo "$*" | cksum | cut -d ' ' -f 1)" "$requirements" install hatchling "./${package}[replay,test]" "$@"
sources=$(find "$package/shinken_gym" "$package/pyproject.toml" "$package/README.md" -type f ! -name '*.pyc' -exec cksum {} + | sort)
unless_done sources "$sources" \
  install --no-index --no-deps --no-build-isolation --force-reinstall "./$package"
