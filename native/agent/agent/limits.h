#pragma once
// Every bound of the agent in one place.

#define PORTS 2
#define STREAMS_MAX 64
#define STDIN_WINDOW 262144u           // bytes of standard input under way to one command
#define WRITE_MAX 32768u               // bytes of one write to a port
#define DATA_MAX (WRITE_MAX - 16u)     // payload of a data frame that fills one write
#define REPLY_MAX 8192u                // largest reply or record
#define OUT_CAPACITY (4u * WRITE_MAX)  // bytes waiting for a port
#define OUT_FOR_DATA (2u * WRITE_MAX)  // data is only produced below this fill, so that replies always fit
#define ARGS_MAX 1024
#define ENVIRONMENT_MAX 1024
#define PATH_BYTES 4096u
#define MARKER_MAX 64u
#define LINE_MAX_BYTES 4096u
#define NAME_BYTES 64u
#define GROUPS_MAX 64
#define DRAINS_MAX 64
#define OUTPUT_DEFAULT (1u << 20)
#define RECORDS_DEFAULT 65536
#define TIMEOUT_MAX_MS (int64_t)(1000ll * 3600 * 24 * 365)
#define OUTPUT_GRACE_US 20000
#define ARGV_RECORD_BYTES 4096u
#define HOOKS_MAX 8            // hooks of an image
#define HOOK_NAME_BYTES 48u    // of a hook's file, with its NUL
#define HOOK_TIMEOUT_MS 1000u  // guest time that one hook has
#define HOOK_SEED_BYTES 32u    // random bytes that one hook is given
