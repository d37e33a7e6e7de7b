#pragma once
// The view in which graders' programs run: the read-only image as root, with the machine's data folders at
// their own paths.

/// The detached mount of the image that init made before anybody else ran; -1 without an image disk.
extern int image_mount_fd;

/// Descriptor of the view's mount namespace, made at the first call; or a negative errno with the failed step
/// in `*step`.
int image_view(const char** step);
