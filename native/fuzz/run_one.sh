#!/bin/sh
# Usage: run_one.sh BOUND OUT CORPUS TARGET. One target of run_all.sh, which says what the arguments are.
bound=$1
out=$2
corpus=$3
target=$4
name=$(basename "$target")
mkdir -p "$out/found/$name"
seeds=
[ -d "$corpus/$name" ] && seeds="$corpus/$name"
log="$out/$name.log"
started=$(date +%s)
if "$target" "$bound" -rss_limit_mb=2048 -timeout=120 -print_final_stats=1 \
    -artifact_prefix="$out/$name-" "$out/found/$name" $seeds >"$log" 2>&1; then
  inputs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")
  rate=$(sed -n 's/^stat::average_exec_per_sec: *//p' "$log")
  echo "  ok   $name ($inputs inputs, $rate/s, $(($(date +%s) - started)) s)"
else
  tail -n 40 "$log"
  echo "  FAIL $name (inputs are under $out)"
  exit 1
fi
