#!/bin/sh
# Runs test executables one after another and adds up what their doctest summaries say. Exit 1 if anything failed.
passed=0
failed=0
for test in "$@"; do
  name=$(basename "$test")
  log=$("$test" --no-colors=true 2>&1)
  code=$?
  line=$(printf '%s\n' "$log" | grep '^\[doctest\] test cases:')
  p=$(printf '%s\n' "$line" | sed -n 's/.*| *\([0-9]*\) passed.*/\1/p')
  f=$(printf '%s\n' "$line" | sed -n 's/.*| *\([0-9]*\) failed.*/\1/p')
  [ -n "$p" ] || p=0
  [ -n "$f" ] || f=0
  if [ "$code" -ne 0 ]; then
    [ "$f" -gt 0 ] || f=1
    printf '%s\n' "$log"
    echo "  FAIL $name (exit $code)"
  else
    echo "  ok   $name ($p)"
    printf '%s\n' "$log" | grep -i '^skipped:' | sed 's/^/       /'
  fi
  passed=$((passed + p))
  failed=$((failed + f))
done
echo "native: $passed passed, $failed failed"
[ "$failed" -eq 0 ]
