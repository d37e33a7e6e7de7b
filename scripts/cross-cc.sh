#!/bin/sh
# The compiler of the guest agent (riscv64, static glibc): the host's own, or one unpacked into the cache folder.
#   cross-cc.sh --have     exit code 0 if there is one
#   cross-cc.sh --fetch    without root: download the host's packages with apt and unpack them into the cache
#   cross-cc.sh ARGS...    compile
set -u
target=riscv64-linux-gnu
cache=${SHINKEN_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/shinken}/toolchain

fetched() { ls "$cache/usr/bin/$target-gcc"-[0-9]* 2>/dev/null | grep -v -e '-ar' -e '-nm' -e '-ranlib' | head -n 1; }
host_cc() { command -v "$target-gcc" 2>/dev/null && [ -e "/usr/$target/lib/libc.a" ]; }

case "${1:-}" in
  --have)
    host_cc >/dev/null || [ -n "$(fetched)" ]
    exit $? ;;
  --fetch)
    mkdir -p "$cache/debs" || exit 1
    names=$(apt-get install -y --no-install-recommends --print-uris "gcc-$target" libc6-dev-riscv64-cross 2>/dev/null |
      sed -n "s/^'[^']*' \([^_ ]*\)_.*/\1/p")
    if [ -z "$names" ]; then
      echo "setup: no riscv64 cross compiler, and apt does not know gcc-$target: as root, apt-get install gcc-$target libc6-dev-riscv64-cross" >&2
      exit 1
    fi
    echo "setup: fetching the agent's cross compiler into the cache"
    # shellcheck disable=SC2086
    (cd "$cache/debs" && apt-get download -qq $names >/dev/null) || { echo "setup: download of the cross compiler failed" >&2; exit 1; }
    for deb in "$cache"/debs/*.deb; do dpkg-deb -x "$deb" "$cache" || exit 1; done
    rm -rf "$cache/debs"
    [ -n "$(fetched)" ]
    exit $? ;;
esac

if host_cc >/dev/null; then exec "$target-gcc" "$@"; fi
cc=$(fetched)
[ -n "$cc" ] || { echo "cross-cc: no riscv64 compiler; run scripts/setup.sh" >&2; exit 1; }
libs=$(find "$cache/usr/lib" -maxdepth 2 -name '*.so*' -exec dirname {} \; | sort -u | tr '\n' ':')
PATH="$cache/usr/bin:$PATH" LD_LIBRARY_PATH="$libs${LD_LIBRARY_PATH:-}" exec "$cc" -B"$cache/usr/$target/lib" -B"$cache/usr/$target/bin" \
  -isystem "$cache/usr/$target/include" -L"$cache/usr/$target/lib" "$@"
