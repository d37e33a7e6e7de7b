"""From a file's bytes to schemas, channels and messages, and how the file ends."""

from __future__ import annotations

import hashlib
import os
import stat
import zlib
from collections.abc import Iterator
from io import BytesIO
from typing import BinaryIO, TypeAlias, TypeVar

import zstandard
from mcap.data_stream import ReadDataStream
from mcap.opcode import Opcode
from mcap.records import Channel, Chunk, DataEnd, Footer, Header, Message, Schema

from ..errors import ShinkenError
from .limits import PROFILE, RECORD_BYTES, Damage

DataRecord: TypeAlias = Schema | Channel | Message
Record = TypeVar("Record", Header, Footer, Chunk, DataEnd, Schema)

MAGIC = b"\x89MCAP0\r\n"
#: Before each record: its opcode, and its length in 8 bytes.
HEAD = 9


class Walker:
    """The records of a bundle's data, in order; iterating raises ``Damage``."""

    def __init__(self, path: str) -> None:
        try:
            if not stat.S_ISREG(os.stat(path).st_mode):
                raise OSError("it is no regular file")
            self._file: BinaryIO = open(path, "rb")
        except (OSError, ValueError) as error:
            raise ShinkenError("bundle_missing", f"{path} cannot be read: {error}", path=path) from error
        #: As it was when it was opened: what is appended meanwhile is not read.
        self.size = os.fstat(self._file.fileno()).st_size
        #: Offset of what comes next, and of the record at hand.
        self._next = 0
        self.at = 0
        self._hash = hashlib.sha256()
        self._crc = 0
        self._summary_at: int | None = None
        self.library: str | None = None
        self.finished = False

    def close(self) -> None:
        self._file.close()

    def sha256(self) -> str:
        """Of the whole file; reads what is left of it. Once."""
        while self._next < self.size and (piece := self._file.read(min(1 << 18, self.size - self._next))):
            self._next += len(piece)
            self._hash.update(piece)
        return self._hash.hexdigest()

    def __iter__(self) -> Iterator[DataRecord]:
        start = self._take(len(MAGIC))
        if start is None:
            raise Damage("it ends before its header")
        if start != MAGIC:
            raise Damage("it does not begin as an MCAP file")
        while True:
            self.at = self._next
            before = self._crc
            head = self._take(HEAD)
            after_head = self._crc
            length = 0 if head is None else int.from_bytes(head[1:], "little")
            if length > RECORD_BYTES:
                raise Damage(f"a record says it has {length} bytes")
            body = None if head is None else self._take(length)
            if head is None or body is None:
                self._cut()
                return
            opcode = head[0]
            if self.library is None and opcode != Opcode.HEADER:
                raise Damage("it does not begin with a header")
            if opcode == Opcode.DATA_END:
                self._data_end(body, before)
            elif opcode == Opcode.FOOTER:
                self._footer(body, after_head)
                return
            elif opcode == Opcode.HEADER:
                self._header(body)
            elif self._summary_at is None:  # The summary repeats what the data has said.
                if opcode == Opcode.CHUNK:
                    yield from _data_in(_unpack(_parse(Chunk, body)))
                else:
                    yield from _data_of(opcode, body)

    def _take(self, length: int) -> bytes | None:
        """The next bytes; None where the file ends before: nothing is allocated that it does not have."""
        if length > self.size - self._next:
            return None
        piece = self._file.read(length)
        self._next += len(piece)
        self._hash.update(piece)
        self._crc = zlib.crc32(piece, self._crc)
        return piece if len(piece) == length else None

    def _cut(self) -> None:
        """A killed writer has not written the end: where there is one, a length on the way to it is wrong."""
        if self.library is None:
            raise Damage("it ends before its header")
        place = self._file.tell()
        self._file.seek(max(0, self.size - len(MAGIC)))
        tail = self._file.read(len(MAGIC))
        self._file.seek(place)
        if tail == MAGIC:
            raise Damage("the records from here do not lead to the file's end")

    def _header(self, body: bytes) -> None:
        if self.library is not None:
            raise Damage("it has two headers")
        header = _parse(Header, body)
        if header.profile != PROFILE:
            raise Damage(f"it is an MCAP file of profile {header.profile!r}, not {PROFILE}")
        self.library = header.library

    def _data_end(self, body: bytes, before: int) -> None:
        if self._summary_at is not None:
            raise Damage("its data ends twice")
        crc = _parse(DataEnd, body).data_section_crc
        if crc not in (0, before):
            raise Damage("the checksum of its data is another")
        self._summary_at = self._next
        self._crc = 0

    def _footer(self, body: bytes, after_head: int) -> None:
        footer = _parse(Footer, body)
        if self._summary_at is None:
            raise Damage("its data has no end")
        if footer.summary_start not in (0, self._summary_at):
            raise Damage("its summary is not where it should be")
        if footer.summary_crc not in (0, zlib.crc32(body[:16], after_head)):
            raise Damage("the checksum of its summary is another")
        end = self._take(len(MAGIC))
        if end is None:
            self._cut()
            return
        if end != MAGIC:
            raise Damage("it does not end as an MCAP file")
        if self._next < self.size:
            raise Damage("bytes follow its end")
        self.finished = True


class _Fields(ReadDataStream):
    """A record's bytes: unlike the stream that it stands for, it never gives fewer than are asked for."""

    def __init__(self, body: bytes) -> None:
        super().__init__(BytesIO(body))
        self._size = len(body)

    def read(self, length: int) -> bytes:
        if length < 0 or length > self._size - self.count:
            raise Damage("a field reaches beyond its record")
        return super().read(length)


def _parse(kind: type[Record], body: bytes) -> Record:
    try:
        record: Record = kind.read(_Fields(body))
        return record
    except UnicodeDecodeError as error:
        raise Damage("a text in a record is not UTF-8") from error


def _parse_channel(body: bytes) -> Channel:
    fields = _Fields(body)
    try:
        channel: Channel = Channel.read(fields)
    except UnicodeDecodeError as error:
        raise Damage("a text in a record is not UTF-8") from error
    # The library believes the length of the metadata only for where to begin the last entry.
    at = 12 + len(channel.topic.encode()) + len(channel.message_encoding.encode())
    if fields.count - at - 4 != int.from_bytes(body[at : at + 4], "little"):
        raise Damage("a field reaches beyond its record")
    return channel


def _data_of(opcode: int, body: bytes) -> Iterator[DataRecord]:
    """Records that tell nothing in their place are skipped, as unknown ones are."""
    if opcode == Opcode.SCHEMA:
        yield _parse(Schema, body)
    elif opcode == Opcode.CHANNEL:
        yield _parse_channel(body)
    elif opcode == Opcode.MESSAGE:
        yield Message.read(_Fields(body), len(body))


def _data_in(chunk: bytes) -> Iterator[DataRecord]:
    fields = _Fields(chunk)
    while fields.count < len(chunk):
        opcode = fields.read1()
        yield from _data_of(opcode, fields.read(fields.read8()))


def _unpack(chunk: Chunk) -> bytes:
    size = chunk.uncompressed_size
    if size > RECORD_BYTES:
        raise Damage(f"a chunk says it unpacks to {size} bytes")
    data = chunk.data
    if chunk.compression == "zstd":
        data = decompress(data, size)
    elif chunk.compression != "":
        raise Damage(f"chunks are not compressed by {chunk.compression!r}")
    if len(data) != size:
        raise Damage(f"a chunk has {len(data)} bytes, not {size}")
    if chunk.uncompressed_crc not in (0, zlib.crc32(data)):
        raise Damage("the checksum of a chunk is another")
    return data


def decompress(packed: bytes, size: int) -> bytes:
    """Unpacks a frame that must give exactly ``size`` bytes. Whoever calls has bounded them."""
    if size == 0:
        return b""
    try:
        # The library allocates what a frame says of itself.
        if zstandard.frame_content_size(packed) not in (-1, size):
            raise Damage("a compressed part unpacks to another size")
        data = zstandard.ZstdDecompressor().decompress(packed, max_output_size=size, allow_extra_data=False)
    except (zstandard.ZstdError, MemoryError) as error:
        raise Damage("a compressed part cannot be unpacked") from error
    if len(data) != size:
        raise Damage(f"a compressed part unpacks to {len(data)} bytes, not {size}")
    return data
