#pragma once
// File records, as `stat` and `list` send them.
#include <sys/stat.h>

#include "wire/msgpack.h"

/// Writes the record of what lies at `name` in `folder`; `label` is the name it carries.
void put_file_record(struct mp_writer* writer, int folder, const char* name, const char* label,
                     const struct stat* st);
