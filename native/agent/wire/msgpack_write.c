#include <string.h>

#include "wire/msgpack.h"

void mp_start(struct mp_writer* writer, void* bytes, uint32_t capacity) {
  writer->at = bytes;
  writer->length = 0;
  writer->capacity = capacity;
  writer->full = false;
}

static void put(struct mp_writer* writer, const void* bytes, uint32_t count) {
  if (writer->full || count > writer->capacity - writer->length) {
    writer->full = true;
    return;
  }
  memcpy(writer->at + writer->length, bytes, count);
  writer->length += count;
}

/// A tag and a big-endian number of `bytes` bytes.
static void put_tagged(struct mp_writer* writer, uint8_t tag, uint64_t value, unsigned bytes) {
  uint8_t out[9] = {tag};
  for (unsigned i = 0; i < bytes; i++) out[1 + i] = (uint8_t)(value >> (8 * (bytes - 1 - i)));
  put(writer, out, 1 + bytes);
}

void mp_put_map(struct mp_writer* writer, uint32_t pairs) {
  if (pairs < 16)
    put_tagged(writer, (uint8_t)(0x80 | pairs), 0, 0);
  else
    put_tagged(writer, 0xdf, pairs, 4);
}

void mp_put_array(struct mp_writer* writer, uint32_t items) {
  if (items < 16)
    put_tagged(writer, (uint8_t)(0x90 | items), 0, 0);
  else
    put_tagged(writer, 0xdd, items, 4);
}

void mp_put_str(struct mp_writer* writer, const char* text) {
  uint32_t length = (uint32_t)strlen(text);
  if (length < 32)
    put_tagged(writer, (uint8_t)(0xa0 | length), 0, 0);
  else
    put_tagged(writer, 0xdb, length, 4);
  put(writer, text, length);
}

void mp_put_bin(struct mp_writer* writer, const void* bytes, uint32_t count) {
  if (count < 256)
    put_tagged(writer, 0xc4, count, 1);
  else
    put_tagged(writer, 0xc6, count, 4);
  put(writer, bytes, count);
}

void mp_put_int(struct mp_writer* writer, int64_t value) {
  if (value >= 0 && value < 128)
    put_tagged(writer, (uint8_t)value, 0, 0);
  else if (value >= INT32_MIN && value <= INT32_MAX)
    put_tagged(writer, 0xd2, (uint64_t)value, 4);
  else
    put_tagged(writer, 0xd3, (uint64_t)value, 8);
}

void mp_put_bool(struct mp_writer* writer, bool value) {
  put_tagged(writer, value ? 0xc3 : 0xc2, 0, 0);
}

void mp_put_nil(struct mp_writer* writer) {
  put_tagged(writer, 0xc0, 0, 0);
}
