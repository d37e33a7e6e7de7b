#!/bin/sh
# Compiles and strips the addon for this platform into prebuilds/, where node-gyp-build finds it when build/Release is
# absent. prebuildify empties the build/ of the folder that it works in, so it works in a copy of the sources.
#   scripts/prebuild.sh [NODEDIR]     where Node's headers lie; without it node-gyp fetches them
set -eu
root=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/native" "$work/benchmarks" "$root/build"
cp "$root/package.json" "$root/binding.gyp" "$work"
cp -R "$root/native/monitor" "$root/native/addon" "$work/native"
cp -R "$root/benchmarks/native" "$work/benchmarks"
ln -s "$root/node_modules" "$work/node_modules"
if [ -n "${1:-}" ]; then export npm_config_nodedir="$1"; fi
"$root/node_modules/.bin/prebuildify" --napi --strip --tag-libc --cwd "$work" --out "$root" \
  >"$root/build/prebuild.log" 2>&1 || { tail -n 40 "$root/build/prebuild.log" >&2; exit 1; }
