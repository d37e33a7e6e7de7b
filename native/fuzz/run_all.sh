#!/bin/sh
# Usage: run_all.sh SECONDS OUT CORPUS TARGET... Fuzzes each target from its committed seeds; new inputs stay in OUT.
# An input may take two minutes by the clock, since what runs at the lowest priority may starve for a while.
# With RUNS in the environment each target gets so many inputs instead, whatever the time.
seconds=$1
out=$2
corpus=$3
shift 3
bound=-max_total_time=$seconds
[ -n "$RUNS" ] && bound=-runs=$RUNS
status=0
for target in "$@"; do
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
    status=1
  fi
done
exit $status
