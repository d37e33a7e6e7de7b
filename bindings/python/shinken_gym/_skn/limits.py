"""What every part of the format agrees on; the numbers are those of docs/skn.md."""

from __future__ import annotations

from ..errors import ShinkenError

#: Newest version of events that this package reads.
SKN_VERSION = 1
PROFILE = "skn"
MESSAGE_ENCODING = "msgpack"
#: Schema names of the format's own channels begin so.
SCHEMA_PREFIX = "skn."

#: Texts of an observation from this many UTF-16 code units on are what changes refer to.
DELTA_CHARS = 256

#: Bytes of one MCAP record, and of one chunk unpacked.
RECORD_BYTES = 64 * 1024 * 1024
#: Bytes of a blob unpacked.
BLOB_BYTES = 256 * 1024 * 1024
#: Bytes of blobs and code units of changed texts that one event may stand for.
EVENT_BYTES = 512 * 1024 * 1024
#: Bytes of events unpacked, and what they stand for, where a bundle is read as a whole.
BUNDLE_BYTES = 2 * 1024 * 1024 * 1024
#: Channels and schemas that one file may define.
CHANNELS = 1_024
#: Levels of nesting in a payload.
DEPTH = 64
#: Items of a list, fields of a map.
ENTRIES = 1_048_576
#: Largest magnitude of an integer.
MAX_INTEGER = 2**53 - 1


class Damage(Exception):
    """What is wrong with a file; where, says who catches it."""


def damaged(path: str, at: int, why: object) -> ShinkenError:
    """``at``: offset of the record of which something is wrong."""
    return ShinkenError(
        "bad_bundle",
        f"{path} is damaged at byte {at}: {why}",
        path=path,
        suggestion="shinken replay recover saves what is whole",
    )
