#!/bin/bash
# Nodes in network namespaces of their own, joined by a bridge, with one Redis: several hosts' worth of network on one machine.
#   scripts/bench-hosts.sh [NODES] [TASKS] [REPLICAS] [OPERATOR]
# Prints one JSON object. All nodes share this machine's processors and its goldens: it measures the queue, and not ten hosts.
set -eu
root=$(cd -- "$(dirname -- "$0")/.." && pwd)
nodes=${1:-2} tasks=${2:-$root/tasks/demo} replicas=${3:-5} operator=${4:-null}

if [ -z "${SHINKEN_BENCH_HOSTS:-}" ]; then
  command -v redis-server >/dev/null || { echo "bench-hosts: redis-server is missing (scripts/setup.sh test)" >&2; exit 3; }
  unshare --net --mount true 2>/dev/null ||
    { echo "bench-hosts: network namespaces are not permitted here: run as root, with CAP_SYS_ADMIN" >&2; exit 3; }
  # Bridge, namespaces and all end with this shell; the host's own network is not touched.
  SHINKEN_BENCH_HOSTS=1 exec unshare --net --mount --pid --fork --kill-child --mount-proc "$0" "$nodes" "$tasks" "$replicas" "$operator"
fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mount -t tmpfs none /run
export SHINKEN_STATE=$work
ip link set lo up
ip link add hosts type bridge
ip addr add 10.99.0.254/24 dev hosts
ip link set hosts up
# Nothing outside these namespaces can reach it.
redis-server --bind 10.99.0.254 --port 6379 --protected-mode no --save '' --appendonly no --dir "$work" >"$work/redis.log" &
queue=redis://10.99.0.254:6379

pids=()
for ((node = 1; node <= nodes; node++)); do
  ip netns add "host$node"
  ip link add "veth$node" type veth peer name eth0 netns "host$node"
  ip link set "veth$node" master hosts up
  ip -n "host$node" link set lo up
  ip -n "host$node" addr add "10.99.0.$node/24" dev eth0
  ip -n "host$node" link set eth0 up
  ip netns exec "host$node" "$root/bin/shinken" worker --queue "$queue" --tasks "$tasks" --node "host$node" --concurrency 1 \
    2>"$work/host$node.log" >"$work/host$node.out" &
  pids+=($!)
done
for ((node = 1; node <= nodes; node++)); do
  until grep -q 'takes jobs' "$work/host$node.log"; do
    kill -0 "${pids[node - 1]}" 2>/dev/null || { cat "$work/host$node.log" >&2; exit 3; }
    sleep 0.2
  done
done
began=$(date +%s%N)
run=$("$root/bin/shinken" queue submit "$tasks" --queue "$queue" --replicas "$replicas" --operator "$operator")
"$root/bin/shinken" queue collect "$run" --queue "$queue" --tasks "$tasks" --json >"$work/report.json" || true
ended=$(date +%s%N)
kill -TERM "${pids[@]}"
wait "${pids[@]}" || true
node -e '
const [file, nodes, ns] = process.argv.slice(1);
const { episodes, total } = JSON.parse(require("node:fs").readFileSync(file, "utf8"));
const seconds = Number(ns) / 1e9;
console.log(JSON.stringify({ nodes: Number(nodes), jobs: episodes.length, ungraded: total.ungraded, seconds, jobs_per_s: episodes.length / seconds }));
' "$work/report.json" "$nodes" "$((ended - began))"
