#!/bin/sh
# Usage: run_all.sh SECONDS OUT CORPUS TARGET... Fuzzes each target from its committed seeds, as many at a time as
# there are processors (JOBS); new inputs stay in OUT. An input may take two minutes by the clock, since what runs
# at the lowest priority may starve for a while.
# With RUNS in the environment each target gets so many inputs instead, whatever the time.
seconds=$1
out=$2
corpus=$3
shift 3
bound=-max_total_time=$seconds
[ -n "$RUNS" ] && bound=-runs=$RUNS
printf '%s\n' "$@" | xargs -n 1 -P "${JOBS:-$(nproc)}" sh "$(dirname "$0")/run_one.sh" "$bound" "$out" "$corpus"
