#pragma once
// The init role: pid 1 of a machine. It prepares the system, starts the agent, reaps, and sees the agent's
// end.
#include <stdbool.h>
#include <stddef.h>

#define PORT_AGENT "org.shinken.agent"
#define PORT_GRADER "org.shinken.grader"

/// Runs as pid 1 and never returns.
void init_main(void);

// boot_log.c
/// A line in the kernel's log, and so on the machine's serial console.
void boot_log(const char* format, ...) __attribute__((format(printf, 1, 2)));
/// Logs, and restarts the machine: on this platform the sign of a failure. Never returns.
void boot_fail(const char* format, ...) __attribute__((format(printf, 1, 2), noreturn));

// command_line.c
/// The value of `key=value` in the kernel's command line, or `otherwise`. Valid until the next call with the
/// same buffer.
const char* boot_option(const char* key, const char* otherwise, char* buffer, size_t capacity);

// mounts.c
/// /proc, /sys and /dev, which everything else needs.
void mount_basics(void);
/// What a full system has beside: pts, shm, cgroup2, run, tmp, the links.
void mount_rest(void);

// links.c
/// Brings up the loopback device and, if there is one, the network card.
void links_up(void);

// modules.c
/// Loads the modules that /modules/order lists, in its order; a machine without the list has none to load.
void load_modules(void);

// root.c
/// Mounts the image disk under an overlay and makes it the root; false if the machine has no such disk. Keeps
/// the mount of the read-only image in image_mount_fd.
bool enter_image(void);

// ports.c
/// Waits for the port of that name; opens it. -1 if it is not there in `wait_ms`.
int open_port(const char* name, unsigned wait_ms);
