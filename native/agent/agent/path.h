#pragma once
// Opening regular files, and nothing that could block or act.
#include <stdbool.h>
#include <sys/stat.h>

/// Opens with `flags` what is, or will be, a regular file. Returns a descriptor and fills in `st`, or a
/// negative errno: EISDIR for a folder, ENXIO for a device, a pipe or a socket, which are never opened.
int open_regular(const char* path, int flags, mode_t mode, struct stat* st);

/// Makes the missing folders above `path`; 0 or an errno.
int make_parents(const char* path);
