// Fuzz target: frames that a host sends, and msgpack inside them. Each input is taken apart twice, once by
// the reader's typed calls in an order that the input chooses, once by mp_skip, and a frame's payload must
// stay inside the input.
#include "wire/frame.h"

#include <stdlib.h>
#include <string.h>

#include "wire/msgpack.h"

static void inside(const struct mp_reader* reader, const uint8_t* bytes, size_t count) {
  if (reader->at < bytes || reader->at > bytes + count) abort();
}

static void typed(const uint8_t* bytes, size_t count) {
  struct mp_reader reader;
  mp_open(&reader, bytes, count);
  // The byte that is about to be read chooses the call, shifted so that each call meets tags of every kind.
  for (unsigned turn = 0; !reader.bad && reader.at < reader.end; turn++) {
    switch ((*reader.at + turn) % 8) {
      case 0:
        mp_map(&reader);
        break;
      case 1:
        mp_array(&reader);
        break;
      case 2: {
        struct span span = mp_str(&reader);
        if (!reader.bad && span.length > 0 && memchr(span.at, 0, span.length) == NULL) span_is(span, "argv");
        break;
      }
      case 3: {
        struct span span = mp_bin(&reader);
        volatile uint8_t last = span.length > 0 ? span.at[span.length - 1] : 0;
        (void)last;
        break;
      }
      case 4:
        mp_int(&reader);
        break;
      case 5:
        if (mp_between(&reader, -5, 70000) > 70000) abort();
        break;
      case 6:
        mp_bool(&reader);
        break;
      default:
        mp_skip(&reader);
    }
    inside(&reader, bytes, count);
  }
}

/// What the writer writes, the reader reads.
static void round_trip(const uint8_t* bytes, size_t count) {
  uint8_t buffer[512];
  struct mp_writer writer;
  mp_start(&writer, buffer, sizeof buffer);
  int64_t number = 0;
  memcpy(&number, bytes, count < sizeof number ? count : sizeof number);
  mp_put_array(&writer, 3);
  mp_put_int(&writer, number);
  mp_put_bin(&writer, bytes, (uint32_t)count);
  mp_put_bool(&writer, (number & 1) != 0);
  if (writer.full) return;
  struct mp_reader reader;
  mp_open(&reader, buffer, writer.length);
  if (mp_array(&reader) != 3 || mp_int(&reader) != number) abort();
  struct span span = mp_bin(&reader);
  if (span.length != count || memcmp(span.at, bytes, count) != 0) abort();
  if (mp_bool(&reader) != ((number & 1) != 0) || reader.bad || reader.at != reader.end) abort();
}

int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t count) {
  struct frame frame;
  size_t at = 0;
  while (frame_parse(bytes + at, count - at, &frame) == FRAME_OK) {
    if (frame.length > FRAME_PAYLOAD_MAX || frame.payload + frame.length > bytes + count) abort();
    typed(frame.payload, frame.length);
    at += FRAME_HEADER + frame.length;
  }
  typed(bytes, count);
  struct mp_reader reader;
  mp_open(&reader, bytes, count);
  mp_skip(&reader);
  inside(&reader, bytes, count);
  round_trip(bytes, count);
  return 0;
}
