#pragma once
// The files and calls that make a forked machine its own.
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/// Makes /run/shinken with its files, binds boot_id and machine-id over the system's, and keeps all of them
/// open, so that a replica rewrites them in place. Called once, before any golden. Failures show later, as a
/// failed step.
void identity_prepare(void);

// The steps, each 0 or an errno.
int identity_seed(const uint8_t* seed, uint32_t length);
int identity_reseed(void);
int identity_clock(int64_t seconds, int64_t nanoseconds);
/// Gives the network card its MAC address, its link going down and up again, and its IPv4 address ("a.b.c.d"
/// or "a.b.c.d/prefix"); null and "" leave theirs. `*state` is "set", or "absent" if there is no card.
int identity_network(const uint8_t* mac, const char* ip, const char** state);
int identity_hostname(const char* name);
int identity_machine_id(const char* id);
int identity_boot_id(const char* id);
int identity_random_seed(void);
int identity_generation(const uint8_t* generation);

/// Signals the processes that registered in /run/shinken/notify.d; how many in `*count`. 0 or an errno.
int notify_registered(uint32_t* count);
/// Finds the network card; part of identity_prepare.
void network_prepare(void);
/// Opens notify.d; part of identity_prepare.
void notify_prepare(const char* folder);
