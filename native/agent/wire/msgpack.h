#pragma once
// A bounded reader and writer of msgpack (https://github.com/msgpack/msgpack/blob/master/spec.md). Neither
// allocates. A reader that met a fault stays `bad` and yields zeros, so that a caller may check once at its
// end.
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// Deepest nesting that mp_skip follows.
#define MP_DEPTH_MAX 8

struct span {
  const uint8_t* at;
  uint32_t length;
};

struct mp_reader {
  const uint8_t *at, *end;
  bool bad;
};

void mp_open(struct mp_reader* reader, const void* bytes, size_t count);
/// Number of pairs of a map, of items of an array; never more than there are bytes left.
uint32_t mp_map(struct mp_reader* reader);
uint32_t mp_array(struct mp_reader* reader);
struct span mp_str(struct mp_reader* reader);
struct span mp_bin(struct mp_reader* reader);
int64_t mp_int(struct mp_reader* reader);
/// An integer in [low, high]; anything else is a fault.
int64_t mp_between(struct mp_reader* reader, int64_t low, int64_t high);
bool mp_bool(struct mp_reader* reader);
/// Steps over any one value.
void mp_skip(struct mp_reader* reader);
/// True if `span` is exactly the text.
bool span_is(struct span span, const char* text);

struct mp_writer {
  uint8_t* at;
  uint32_t length, capacity;
  bool full;
};

void mp_start(struct mp_writer* writer, void* bytes, uint32_t capacity);
void mp_put_map(struct mp_writer* writer, uint32_t pairs);
void mp_put_array(struct mp_writer* writer, uint32_t items);
void mp_put_str(struct mp_writer* writer, const char* text);
void mp_put_bin(struct mp_writer* writer, const void* bytes, uint32_t count);
void mp_put_int(struct mp_writer* writer, int64_t value);
void mp_put_bool(struct mp_writer* writer, bool value);
void mp_put_nil(struct mp_writer* writer);
