#include "wire/frame.h"

static uint32_t get32(const uint8_t* p) {
  return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static void put32(uint8_t* p, uint32_t value) {
  for (int i = 0; i < 4; i++) p[i] = (uint8_t)(value >> (8 * i));
}

static bool allowed(const struct frame* frame) {
  switch (frame->kind) {
    case FRAME_REQUEST:
    case FRAME_CONTROL:
      return frame->flags == 0;
    case FRAME_DATA:
      return (frame->flags & ~FRAME_END) == 0 && frame->op == CHANNEL_IN;
    default:
      return false;
  }
}

enum frame_status frame_parse(const uint8_t* bytes, size_t count, struct frame* frame) {
  if (count < FRAME_HEADER) return FRAME_PARTIAL;
  frame->length = get32(bytes);
  frame->stream = get32(bytes + 4);
  frame->kind = bytes[8];
  frame->flags = bytes[9];
  frame->op = (uint16_t)(bytes[10] | bytes[11] << 8);
  frame->credit = get32(bytes + 12);
  frame->payload = bytes + FRAME_HEADER;
  if (frame->length > FRAME_PAYLOAD_MAX || frame->stream == 0 || !allowed(frame)) return FRAME_BROKEN;
  return count - FRAME_HEADER < frame->length ? FRAME_PARTIAL : FRAME_OK;
}

void frame_header(uint8_t* bytes, const struct frame* frame) {
  put32(bytes, frame->length);
  put32(bytes + 4, frame->stream);
  bytes[8] = frame->kind;
  bytes[9] = frame->flags;
  bytes[10] = (uint8_t)frame->op;
  bytes[11] = (uint8_t)(frame->op >> 8);
  put32(bytes + 12, frame->credit);
}
