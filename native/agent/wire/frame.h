#pragma once
// The 16-byte frame header of docs/agent-protocol.md.
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FRAME_HEADER 16u
#define FRAME_PAYLOAD_MAX 65536u

enum frame_kind { FRAME_REQUEST = 1, FRAME_REPLY = 2, FRAME_DATA = 3, FRAME_EVENT = 4, FRAME_CONTROL = 5 };
enum frame_flags { FRAME_FINAL = 1, FRAME_END = 2, FRAME_ERROR = 4 };

enum op {
  OP_HELLO = 1,
  OP_EXEC,
  OP_AWAIT,
  OP_READ,
  OP_WRITE,
  OP_STAT,
  OP_LIST,
  OP_PROCESSES,
  OP_WAIT,
  OP_FREEZE,
  OP_WARM,
  OP_POWEROFF,
  OP_UNIQUENESS,
  OP_UNPLUG,
  OP_LOOK,
};
enum channel { CHANNEL_IN = 0, CHANNEL_OUT = 1, CHANNEL_ERR = 2, CHANNEL_RECORDS = 3, CHANNEL_FILE = 4 };
enum control { CONTROL_CREDIT = 1, CONTROL_SIGNAL = 2, CONTROL_RESIZE = 3, CONTROL_CANCEL = 4 };
enum event { EVENT_READY = 1, EVENT_AGENT_DIED = 2, EVENT_FAULT = 3 };

struct frame {
  uint32_t length, stream;
  uint8_t kind, flags;
  uint16_t op;
  uint32_t credit;
  const uint8_t* payload;
};

enum frame_status { FRAME_OK, FRAME_PARTIAL, FRAME_BROKEN };

/// Reads one frame that the host sent from the start of `bytes`. FRAME_PARTIAL: more bytes are needed.
/// FRAME_BROKEN: no host may send this. On FRAME_OK `payload` points into `bytes`, FRAME_HEADER + length
/// bytes long in all.
enum frame_status frame_parse(const uint8_t* bytes, size_t count, struct frame* frame);

/// Writes the header of `frame` to 16 bytes at `bytes`.
void frame_header(uint8_t* bytes, const struct frame* frame);
