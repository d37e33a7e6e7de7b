#!/bin/sh
# Checks what the host must have, one line a missing thing; as root on Debian or Ubuntu it installs them.
#   scripts/setup.sh            what `make build` and `make demo` need
#   scripts/setup.sh test       and what `make test` uses
#   scripts/setup.sh lint       and what `make lint` uses
set -u
root=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd)
profile=${1:-build}
packages=''
missing=0

# need COMMAND PACKAGES WHAT-FOR: asks for the packages if the command is not on PATH.
need() {
  command -v "$1" >/dev/null 2>&1 && return 0
  echo "setup: missing $1 ($3); Debian: apt-get install $2" >&2
  packages="$packages $2"
  missing=1
}

if ! command -v node >/dev/null 2>&1; then
  echo "setup: missing node: install Node.js 20 or later, with npm" >&2
  exit 1
fi
major=$(node -p 'process.versions.node.split(".")[0]')
if [ "$major" -lt 20 ]; then
  echo "setup: Node.js $(node --version) is too old: 20 or later is needed" >&2
  exit 1
fi

need npm npm "installs the JavaScript packages"
need make make "drives the build"
need g++ g++ "compiles the monitor, C++20"
need python3 python3 "node-gyp runs on it"
need gpgv gpgv "checks the signatures of guest packages"
need xz xz-utils "unpacks kernel modules"
need dpkg-deb dpkg "unpacks guest packages"
need apt-get apt "resolves guest packages"
if [ -z "${SHINKEN_DEBIAN_MIRROR:-}" ] && ! grep -qs '^ID="\{0,1\}debian' /etc/os-release; then
  [ -e /usr/share/python-apt/templates/Debian.info ] ||
    need python-apt-templates python-apt-common "knows Debian's mirrors; or set SHINKEN_DEBIAN_MIRROR"
fi
if [ -z "${SHINKEN_AGENT_CC:-}" ] && ! "$root/scripts/cross-cc.sh" --have; then
  if [ "$(id -u)" = 0 ]; then
    need riscv64-linux-gnu-gcc "gcc-riscv64-linux-gnu libc6-dev-riscv64-cross" "compiles the guest agent"
  fi
fi
if [ "$profile" != build ]; then
  [ -e /usr/include/doctest/doctest.h ] || need doctest.h doctest-dev "unit tests of the monitor"
  need qemu-riscv64 qemu-user "the oracle of the CPU's differential tests"
  need qemu-system-riscv64 "qemu-system-misc opensbi" "the oracle of the machine's differential tests"
  python3 -c 'import ensurepip' 2>/dev/null || need python3-ensurepip python3-venv "tests of the Python client"
  need redis-server redis-server "the queue between hosts"
  need clang++-19 "clang-19 libclang-rt-19-dev" "fuzz targets and sanitizers"
fi
if [ "$profile" = lint ]; then
  need clang-format-19 clang-format-19 "format of C and C++"
  need clang-tidy-19 clang-tidy-19 "lint of C and C++"
fi

if [ "$missing" = 1 ]; then
  if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
    echo "setup: installing:$packages"
    export DEBIAN_FRONTEND=noninteractive
    apt-get update -qq >/dev/null 2>&1 || true
    # One by one after a failed whole: a package that this release lacks must not keep the others away.
    # shellcheck disable=SC2086
    apt-get install -y -qq --no-install-recommends $packages >/dev/null 2>&1 || for package in $packages; do
      apt-get install -y -qq --no-install-recommends "$package" >/dev/null 2>&1 ||
        echo "setup: apt could not install $package" >&2
    done
  fi
  for tool in npm make g++ python3 gpgv xz dpkg-deb apt-get; do
    command -v "$tool" >/dev/null 2>&1 || { echo "setup: $tool is still missing; install it and run again" >&2; exit 1; }
  done
fi
echo 'int main(){auto f=[]<class T>(T t){return t;};return f(0);}' | g++ -std=c++20 -fsyntax-only -x c++ - 2>/dev/null ||
  { echo "setup: g++ does not speak C++20: version 11 or later is needed" >&2; exit 1; }
if [ -z "${SHINKEN_AGENT_CC:-}" ] && ! "$root/scripts/cross-cc.sh" --have; then
  "$root/scripts/cross-cc.sh" --fetch || exit 1
fi
exit 0
