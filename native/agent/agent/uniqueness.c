// The uniqueness step: ordered, and fail-closed (docs/agent-protocol.md, "uniqueness").
#include <string.h>
#include <sys/random.h>

#include "agent/agent.h"
#include "agent/cgroup.h"
#include "agent/hooks.h"
#include "agent/identity.h"

#define SEED_MIN 32u
#define SEED_MAX 256u
#define SAMPLE 32u

struct packet {
  uint8_t generation[16], seed[SEED_MAX], mac[6];
  uint32_t seed_length;
  char hostname[NAME_BYTES + 1], machine_id[33], boot_id[37], ip[48];
  int64_t clock[2];
  bool has_generation, has_clock, has_mac;
};

static void take_fixed(struct mp_reader* reader, uint8_t* bytes, uint32_t count, bool* has) {
  struct span span = mp_bin(reader);
  if (span.length != count) reader->bad = true;
  if (reader->bad) return;
  memcpy(bytes, span.at, count);
  *has = true;
}

static void take_seed(struct mp_reader* reader, struct packet* packet) {
  struct span span = mp_bin(reader);
  if (span.length < SEED_MIN || span.length > SEED_MAX) reader->bad = true;
  if (reader->bad) return;
  memcpy(packet->seed, span.at, span.length);
  packet->seed_length = span.length;
}

static void take_clock(struct mp_reader* reader, struct packet* packet) {
  if (mp_array(reader) != 2) reader->bad = true;
  packet->clock[0] = mp_between(reader, 0, INT64_MAX / 2);
  packet->clock[1] = mp_between(reader, 0, 999999999);
  packet->has_clock = true;
}

static bool parse(struct request* request, struct packet* packet) {
  struct mp_reader* reader = &request->reader;
  uint32_t pairs = mp_map(reader);
  struct span key;
  while (next_key(reader, &pairs, &key)) {
    if (span_is(key, "generation"))
      take_fixed(reader, packet->generation, 16, &packet->has_generation);
    else if (span_is(key, "seed"))
      take_seed(reader, packet);
    else if (span_is(key, "hostname"))
      take_text(reader, packet->hostname, sizeof packet->hostname);
    else if (span_is(key, "machineId"))
      take_text(reader, packet->machine_id, sizeof packet->machine_id);
    else if (span_is(key, "bootId"))
      take_text(reader, packet->boot_id, sizeof packet->boot_id);
    else if (span_is(key, "clock"))
      take_clock(reader, packet);
    else if (span_is(key, "mac"))
      take_fixed(reader, packet->mac, 6, &packet->has_mac);
    else if (span_is(key, "ip"))
      take_text(reader, packet->ip, sizeof packet->ip);
    else
      unknown_key(reader, key);
  }
  if (!request_done(request)) return false;
  const char* missing = !packet->has_generation      ? "generation"
                        : packet->seed_length == 0   ? "seed"
                        : packet->hostname[0] == 0   ? "hostname"
                        : packet->machine_id[0] == 0 ? "machineId"
                        : packet->boot_id[0] == 0    ? "bootId"
                                                     : NULL;
  if (missing != NULL) reply_error(request->port, request->frame.stream, "EINVAL", missing);
  return missing == NULL;
}

struct outcome {
  const char* network;
  uint32_t notified, hooks;
  uint8_t sample[SAMPLE];
};

/// Every step of the agent's own in its order; the name of the one that failed, with its errno in `*error`,
/// or null.
static const char* carry_out(const struct packet* packet, struct outcome* outcome, int* error) {
#ifndef HOST_TEST
  cgroup_new_machine();
  if ((*error = cgroup_freeze(true)) != 0) return "freeze";
#endif
  if ((*error = identity_seed(packet->seed, packet->seed_length)) != 0) return "seed";
  if ((*error = identity_reseed()) != 0) return "reseed";
  if (packet->has_clock && (*error = identity_clock(packet->clock[0], packet->clock[1])) != 0) return "clock";
  *error = identity_network(packet->has_mac ? packet->mac : NULL, packet->ip, &outcome->network);
  if (*error != 0) return "network";
  if ((*error = identity_hostname(packet->hostname)) != 0) return "hostname";
  if ((*error = identity_machine_id(packet->machine_id)) != 0) return "machine_id";
  if ((*error = identity_boot_id(packet->boot_id)) != 0) return "boot_id";
  if ((*error = identity_random_seed()) != 0) return "random_seed";
  if ((*error = identity_generation(packet->generation)) != 0) return "generation";
  if ((*error = notify_registered(&outcome->notified)) != 0) return "notify";
  return NULL;
}

void op_uniqueness(struct request* request) {
  static struct packet packet;
  memset(&packet, 0, sizeof packet);
  if (!parse(request, &packet)) return;
  streams_forked();
  struct outcome outcome;
  int error;
  const char* failed = carry_out(&packet, &outcome, &error);
  memset(packet.seed, 0, sizeof packet.seed);
  struct hook_fault fault;
  if (failed == NULL && !hooks_run(packet.generation, packet.hostname, &outcome.hooks, &fault)) {
    reply_error(request->port, request->frame.stream, fault.code, fault.where);
    return;
  }
  if (failed == NULL && getrandom(outcome.sample, SAMPLE, GRND_NONBLOCK) != SAMPLE)
    error = errno, failed = "sample";
  if (failed != NULL) {
    reply_errno(request->port, request->frame.stream, error, failed);
    return;
  }
  struct mp_writer writer = reply_start(request->port);
  mp_put_map(&writer, outcome.hooks > 0 ? 5 : 4);
  mp_put_str(&writer, "generation");
  mp_put_bin(&writer, packet.generation, sizeof packet.generation);
  mp_put_str(&writer, "sample");
  mp_put_bin(&writer, outcome.sample, SAMPLE);
  mp_put_str(&writer, "network");
  mp_put_str(&writer, outcome.network);
  mp_put_str(&writer, "notified");
  mp_put_int(&writer, outcome.notified);
  if (outcome.hooks > 0) {
    mp_put_str(&writer, "hooks");
    mp_put_int(&writer, outcome.hooks);
  }
  reply_end(request->port, request->frame.stream, &writer);
#ifndef HOST_TEST
  // The acknowledgement goes out first. The agent does not sleep in between, so the workload runs only after
  // both.
  port_flush(request->port);
  cgroup_freeze(false);
#endif
}
