#include <string.h>

#include "wire/msgpack.h"

void mp_open(struct mp_reader* reader, const void* bytes, size_t count) {
  reader->at = bytes;
  reader->end = reader->at + count;
  reader->bad = false;
}

static size_t left(const struct mp_reader* reader) {
  return (size_t)(reader->end - reader->at);
}

static uint8_t take8(struct mp_reader* reader) {
  if (reader->bad || left(reader) < 1) {
    reader->bad = true;
    return 0;
  }
  return *reader->at++;
}

static uint64_t take(struct mp_reader* reader, unsigned bytes) {
  uint64_t value = 0;
  while (bytes-- > 0) value = value << 8 | take8(reader);
  return reader->bad ? 0 : value;
}

static uint32_t fault(struct mp_reader* reader) {
  reader->bad = true;
  return 0;
}

/// Every item needs at least one byte, so a count beyond the bytes left is a lie.
static uint32_t counted(struct mp_reader* reader, uint64_t count, unsigned bytes_each) {
  if (reader->bad || count * bytes_each > left(reader)) return fault(reader);
  return (uint32_t)count;
}

uint32_t mp_map(struct mp_reader* reader) {
  uint8_t tag = take8(reader);
  if ((tag & 0xf0) == 0x80) return counted(reader, tag & 0x0f, 2);
  if (tag == 0xde) return counted(reader, take(reader, 2), 2);
  if (tag == 0xdf) return counted(reader, take(reader, 4), 2);
  return fault(reader);
}

uint32_t mp_array(struct mp_reader* reader) {
  uint8_t tag = take8(reader);
  if ((tag & 0xf0) == 0x90) return counted(reader, tag & 0x0f, 1);
  if (tag == 0xdc) return counted(reader, take(reader, 2), 1);
  if (tag == 0xdd) return counted(reader, take(reader, 4), 1);
  return fault(reader);
}

static struct span taken(struct mp_reader* reader, uint64_t count) {
  struct span span = {reader->at, counted(reader, count, 1)};
  reader->at += span.length;
  return span;
}

struct span mp_str(struct mp_reader* reader) {
  uint8_t tag = take8(reader);
  if ((tag & 0xe0) == 0xa0) return taken(reader, tag & 0x1f);
  if (tag == 0xd9) return taken(reader, take(reader, 1));
  if (tag == 0xda) return taken(reader, take(reader, 2));
  if (tag == 0xdb) return taken(reader, take(reader, 4));
  fault(reader);
  return (struct span){reader->at, 0};
}

struct span mp_bin(struct mp_reader* reader) {
  uint8_t tag = take8(reader);
  if (tag >= 0xc4 && tag <= 0xc6) return taken(reader, take(reader, 1u << (tag - 0xc4)));
  fault(reader);
  return (struct span){reader->at, 0};
}

int64_t mp_int(struct mp_reader* reader) {
  uint8_t tag = take8(reader);
  if (tag < 0x80) return tag;
  if (tag >= 0xe0) return (int8_t)tag;
  switch (tag) {
    case 0xcc:
      return (int64_t)take(reader, 1);
    case 0xcd:
      return (int64_t)take(reader, 2);
    case 0xce:
      return (int64_t)take(reader, 4);
    case 0xcf: {
      uint64_t value = take(reader, 8);
      return value > INT64_MAX ? (int64_t)fault(reader) : (int64_t)value;
    }
    case 0xd0:
      return (int8_t)take(reader, 1);
    case 0xd1:
      return (int16_t)take(reader, 2);
    case 0xd2:
      return (int32_t)take(reader, 4);
    case 0xd3:
      return (int64_t)take(reader, 8);
    default:
      return fault(reader);
  }
}

int64_t mp_between(struct mp_reader* reader, int64_t low, int64_t high) {
  int64_t value = mp_int(reader);
  if (!reader->bad && value >= low && value <= high) return value;
  reader->bad = true;
  return low;
}

bool mp_bool(struct mp_reader* reader) {
  uint8_t tag = take8(reader);
  if (tag != 0xc2 && tag != 0xc3) fault(reader);
  return tag == 0xc3;
}

/// Bytes of a scalar, string or extension after its tag, or the items of a container in `*items`.
static uint64_t body(struct mp_reader* reader, uint8_t tag, uint64_t* items) {
  *items = 0;
  if (tag < 0x80 || tag >= 0xe0) return 0;
  if (tag < 0x90) return *items = (tag & 0x0fu) * 2, 0;
  if (tag < 0xa0) return *items = tag & 0x0f, 0;
  if (tag < 0xc0) return tag & 0x1f;
  switch (tag) {
    case 0xc0:
    case 0xc2:
    case 0xc3:
      return 0;
    case 0xc4:
    case 0xd9:
      return take(reader, 1);
    case 0xc5:
    case 0xda:
      return take(reader, 2);
    case 0xc6:
    case 0xdb:
      return take(reader, 4);
    case 0xc7:
    case 0xc8:
    case 0xc9:
      return take(reader, 1u << (tag - 0xc7)) + 1;
    case 0xca:
      return 4;
    case 0xcb:
      return 8;
    case 0xcc:
    case 0xcd:
    case 0xce:
    case 0xcf:
      return 1u << (tag - 0xcc);
    case 0xd0:
    case 0xd1:
    case 0xd2:
    case 0xd3:
      return 1u << (tag - 0xd0);
    case 0xd4:
    case 0xd5:
    case 0xd6:
    case 0xd7:
    case 0xd8:
      return (1u << (tag - 0xd4)) + 1;
    case 0xdc:
      return *items = take(reader, 2), 0;
    case 0xdd:
      return *items = take(reader, 4), 0;
    case 0xde:
      return *items = take(reader, 2) * 2, 0;
    case 0xdf:
      return *items = take(reader, 4) * 2, 0;
    default:
      return fault(reader);
  }
}

void mp_skip(struct mp_reader* reader) {
  uint64_t pending[MP_DEPTH_MAX + 1] = {1};
  int depth = 0;
  while (depth >= 0 && !reader->bad) {
    if (pending[depth] == 0) {
      depth--;
      continue;
    }
    pending[depth]--;
    uint64_t items;
    uint64_t bytes = body(reader, take8(reader), &items);
    if (reader->bad || bytes > left(reader) || items > left(reader)) {
      fault(reader);
      return;
    }
    reader->at += bytes;
    if (items == 0) continue;
    if (depth == MP_DEPTH_MAX) {
      fault(reader);
      return;
    }
    pending[++depth] = items;
  }
}

bool span_is(struct span span, const char* text) {
  return strlen(text) == span.length && memcmp(span.at, text, span.length) == 0;
}
