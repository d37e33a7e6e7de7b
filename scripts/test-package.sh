#!/bin/sh
# By hand (`make test-package`): packs the project, installs the tarball into an empty folder with no compiler, make or
# Python on PATH, and runs a machine there. npm takes the dependencies from its cache where it has them.
set -eu
cd "$(dirname -- "$0")/.."
work=$(mktemp -d)
echo '== package: pack'
npm pack --silent --pack-destination "$work"
mkdir "$work/bin" "$work/app"
for tool in node npm npx sh env; do ln -s "$(command -v $tool)" "$work/bin/$tool"; done
rm=$(command -v rm)
trap '"$rm" -rf "$work"' EXIT
PATH=$work/bin
cd "$work/app"
echo '== package: install'
npm install --prefer-offline --no-audit --no-fund --loglevel=error "$work"/shinken-gym-*.tgz
installed=$work/app/node_modules/shinken-gym

echo '== package: use'
node -e '
const { existsSync, writeFileSync } = require("node:fs");
const addon = require("node-gyp-build").path(process.argv[1]);
if (!addon.startsWith(`${process.argv[1]}/prebuilds/`)) throw new Error(`the addon is not the prebuilt one: ${addon}`);
for (const file of ["build/agent/shinken-agent", "tasks/demo"])
  if (!existsSync(`${process.argv[1]}/${file}`)) throw new Error(`${file} is not in the package`);
const say = (text) => [...text].flatMap((c) => [0x00100893, 0x00000513 | (c.charCodeAt(0) << 20), 0x00000073]);
const shutdown = [0x535258b7, 0x3548889b, 0x00000813, 0x00000513, 0x00000593, 0x00000073];
writeFileSync("hello", Uint32Array.from([...say("hello\n"), ...shutdown]));
' "$installed"
npx --no-install shinken --help >help.txt
output=$(npx --no-install shinken machine run hello)
[ "$output" = hello ] || { echo "the program in the machine printed '$output'" >&2; exit 1; }
echo '== package: ok, the prebuilt addon ran a program'
