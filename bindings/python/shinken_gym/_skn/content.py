"""Content beside the bundles."""

from __future__ import annotations

import hashlib
import os
import stat

from ..errors import ShinkenError
from .limits import BLOB_BYTES, Damage
from .values import BlobRef, from_utf16
from .walk import decompress


def folder_of(path: str) -> str:
    """The folder that has the blobs: the one above the bundle's, where recorders put them, or its own."""
    own = os.path.dirname(os.path.abspath(path))
    above = os.path.dirname(own)
    beside = not os.path.exists(os.path.join(above, "blobs")) and os.path.exists(os.path.join(own, "blobs"))
    return own if beside else above


def read_blob(folder: str, ref: BlobRef) -> str | bytes:
    """The content of a blob, checked against its hash.

    Raises ``blob_missing``, ``bad_bundle`` or ``too_large``.
    """
    path = os.path.join(folder, "blobs", ref.sha256[:2], ref.sha256)
    if ref.bytes > BLOB_BYTES:
        message = f"the content {ref.sha256} has {ref.bytes} bytes; {BLOB_BYTES} are read"
        raise ShinkenError("too_large", message, path=path)
    try:
        content = decompress(_packed(path, ref.bytes), ref.bytes)
    except Damage as error:
        raise _damaged(path, str(error)) from error
    if hashlib.sha256(content).hexdigest() != ref.sha256:
        raise _damaged(path, "its content has another hash")
    if ref.kind == "bytes":
        return content
    try:
        return content.decode("utf-8") if ref.kind == "text" else from_utf16(content)
    except UnicodeDecodeError as error:
        raise _damaged(path, f"it is no text in {'UTF-8' if ref.kind == 'text' else 'UTF-16'}") from error


def _packed(path: str, size: int) -> bytes:
    try:
        found = os.stat(path)
        if not stat.S_ISREG(found.st_mode):
            raise OSError("it is no regular file")
        # More than compression ever adds: nothing is read that cannot be it.
        if found.st_size > size + (size >> 7) + 1024:
            raise Damage("it is too large for its content")
        with open(path, "rb") as file:
            return file.read()
    except OSError as error:
        raise ShinkenError(
            "blob_missing",
            f"the content of an event is not at {path}",
            path=path,
            suggestion="move bundles together with their blobs folder",
        ) from error


def _damaged(path: str, why: str) -> ShinkenError:
    return ShinkenError("bad_bundle", f"{path} is damaged: {why}", path=path)
