#pragma once
// The view in which graders' programs and the image's hooks run: the read-only image as root, with the
// machine's data folders at their own paths.

/// The image's own mount, made by init before anybody else ran and out of reach under the root (O_PATH); -1
/// without an image disk.
extern int image_mount_fd;

/// Descriptor of a new view's mount namespace, to be closed; or a negative errno with the failed step in
/// `*step`.
int image_view_new(const char** step);

/// The graders' view, made at the first call and kept, so that all of one grading see the same.
int image_view(const char** step);
