/**
 * What BullMQ has no operation for: results in the hands of one collector. The scripts know this of BullMQ's layout: `completed` is a sorted set of
 * job ids, a job is the hash PREFIX:ID, its name (our run) in `name`, its result in `returnvalue`, the number of its leases in `ats`.
 */

/** KEYS: completed, the new claim's list. ARGV: prefix of jobs, prefix of claims, claim, milliseconds, run, limit. Gives id, result, leases of each. */
export const collectScript = `
local given = {}
for _, id in ipairs(redis.call("ZRANGE", KEYS[1], 0, -1)) do
  if #given >= 3 * tonumber(ARGV[6]) then break end
  local job = redis.call("HMGET", ARGV[1] .. id, "name", "claim", "returnvalue", "ats")
  local free = not job[2] or redis.call("EXISTS", ARGV[2] .. job[2]) == 0
  if job[1] == ARGV[5] and free then
    redis.call("HSET", ARGV[1] .. id, "claim", ARGV[3])
    redis.call("RPUSH", KEYS[2], id)
    table.insert(given, id)
    table.insert(given, job[3])
    table.insert(given, job[4])
  end
end
if #given > 0 then redis.call("PEXPIRE", KEYS[2], ARGV[4]) end
return given
`;

/** The jobs' hashes stay: BullMQ takes no second job of an id. KEYS: completed, the claim's list. ARGV: prefix of jobs. Gives how many were settled. */
export const settleScript = `
local ids = redis.call("LRANGE", KEYS[2], 0, -1)
for _, id in ipairs(ids) do
  redis.call("ZREM", KEYS[1], id)
  redis.call("HDEL", ARGV[1] .. id, "returnvalue", "claim")
end
redis.call("DEL", KEYS[2])
return #ids
`;
