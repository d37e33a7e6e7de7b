"""Reads ``.skn`` bundles: recorded episodes. Needs ``shinken-gym[replay]``; docs/skn.md is the specification.

>>> from shinken_gym.replay import read_bundle
>>> bundle = read_bundle("episode.skn")
>>> [(step.step, sum(reward["reward"] for reward in step.rewards)) for step in bundle.steps]
"""

from __future__ import annotations

import os
from collections.abc import Generator, Iterator
from dataclasses import dataclass, field
from typing import Any

try:
    from mcap.records import Channel, Message, Schema

    from ._skn.content import folder_of, read_blob
    from ._skn.deltas import ObservationDeltas
    from ._skn.values import BlobRef, TextDelta, UnknownExtension, decode, map_leaves
    from ._skn.walk import Walker
except ImportError as error:  # pragma: no cover
    raise ImportError(f"{error}; install shinken-gym[replay]") from error

from ._skn import limits
from ._skn.limits import Damage, damaged
from ._skn.schema import check, envelope, schemas
from ._skn.upcast import upcast
from .errors import ShinkenError

__all__ = [
    "BlobRef",
    "Bundle",
    "BundleStep",
    "Event",
    "Events",
    "ReadEnd",
    "TextDelta",
    "UnknownExtension",
    "is_foreign",
    "read_bundle",
    "read_events",
]

#: An event as it was recorded: ``channel``, ``seq``, ``step``, ``t_guest``, ``t_wall`` and the channel's
#: fields. Of a channel that this package does not know: ``channel``, ``foreign`` (True), ``seq``, ``t_wall``,
#: ``payload`` (bytes if it is not ours to decode) and ``raw`` (``topic``, ``messageEncoding``, ``schema``,
#: ``data``).
Event = dict[str, Any]


@dataclass(frozen=True)
class ReadEnd:
    """How the reading of a file ended."""

    #: False: no end was found; the writer was killed, or is still at work.
    finished: bool
    #: Of the file as read, in hex.
    sha256: str
    bytes: int
    #: Version of the events as they stood in the file.
    version: int
    #: What wrote the file.
    library: str


@dataclass
class BundleStep:
    """What was asked for in a step, and what came of it."""

    #: 1 for the first after the reset.
    step: int
    actions: list[Event] = field(default_factory=list)
    #: None: the step was asked for and not answered.
    observation: Event | None = None
    rewards: list[Event] = field(default_factory=list)
    decisions: list[Event] = field(default_factory=list)
    snapshot: Event | None = None
    #: Markers, infrastructure, permissions, channels that are not known here, and what was taken back.
    others: list[Event] = field(default_factory=list)


@dataclass(frozen=True)
class Bundle:
    """A whole episode."""

    file: str
    session: Event
    #: Where the steps begin: what the reset gave, or the state that a branch began with.
    start: BundleStep
    steps: list[BundleStep]
    verdicts: list[Event]
    end: ReadEnd


def is_foreign(event: Event) -> bool:
    """Whether the event is of a channel that this package does not know."""
    return event["channel"] not in schemas()


def read_events(
    path: str | os.PathLike[str], *, blobs: bool = True, folder: str | os.PathLike[str] | None = None
) -> Events:
    """The events of a bundle, in order.

    With ``blobs=False`` events are as they stand in the file: content that lies beside it is a ``BlobRef``, a
    changed text of an observation a ``TextDelta``, and only envelopes are checked. ``folder`` holds
    ``blobs``; it is found from the file's place if unsaid.

    Raises ``ShinkenError``, also while iterating: ``bundle_missing``, ``bad_bundle`` for damage or a file of
    another kind, ``unsupported_version`` for events newer than this package, ``blob_missing`` for content
    that is not where it should be, ``too_large`` for content beyond what is read.
    """
    return Events(os.fspath(path), blobs, None if folder is None else os.fspath(folder), None)


def read_bundle(
    path: str | os.PathLike[str], *, blobs: bool = True, folder: str | os.PathLike[str] | None = None
) -> Bundle:
    """A whole bundle.

    Raises as ``read_events``, ``bad_bundle`` too where it has no session, ``too_large`` beyond 2 GiB.
    """
    file = os.fspath(path)
    events = Events(file, blobs, None if folder is None else os.fspath(folder), limits.BUNDLE_BYTES)
    session: Event | None = None
    steps = _Steps(0)
    before: list[Event] = []
    verdicts: list[Event] = []
    for event in events:
        if is_foreign(event):
            if session is None:
                before.append(event)
            else:
                steps.place(event)
        elif event["channel"] == "session":
            session = event
            parent = event.get("parent")
            first = parent.get("step") if isinstance(parent, dict) else None
            steps = _Steps(first if isinstance(first, int) else 0)
            steps.start.others.extend(before)
        elif event["channel"] == "verdict":
            verdicts.append(event)
        else:
            steps.place(event)
    if session is None:
        raise ShinkenError("bad_bundle", f"{file} ends before its session is told", path=file)
    assert events.end is not None
    return Bundle(file, session, steps.start, steps.ordered(), verdicts, events.end)


class Events(Iterator[Event]):
    """Iterates over the events of a bundle; ``end`` is set when there are no more."""

    def __init__(self, path: str, blobs: bool, folder: str | None, budget: int | None) -> None:
        self._path = path
        self._blobs = blobs
        self._folder = folder
        self._budget = budget
        self._left = 0
        self._version = limits.SKN_VERSION
        self._next = 0
        self._schemas: dict[int, Schema] = {}
        self._channels: dict[int, Channel] = {}
        self._deltas = ObservationDeltas()
        self._walker = Walker(path)
        self._events = self._read()
        #: How the file ended; None until then.
        self.end: ReadEnd | None = None

    def __next__(self) -> Event:
        return next(self._events)

    def close(self) -> None:
        """Closes the file; there are no more events."""
        self._events.close()
        self._walker.close()

    def _read(self) -> Generator[Event, None, None]:
        walker = self._walker
        try:
            for record in walker:
                event = self._take(record)
                if event is not None:
                    yield event
            digest = walker.sha256()
        except Damage as error:
            raise damaged(self._path, walker.at, error) from error
        except OSError as error:
            raise ShinkenError(
                "bundle_missing", f"{self._path} cannot be read: {error}", path=self._path
            ) from error
        finally:
            walker.close()
        library = walker.library or ""
        self.end = ReadEnd(walker.finished, digest, walker.size, self._version, library)

    def _take(self, record: Schema | Channel | Message) -> Event | None:
        if isinstance(record, Message):
            return self._message(record)
        if isinstance(record, Schema):
            self._schemas[record.id] = record
        else:
            self._channels[record.id] = record
        if max(len(self._schemas), len(self._channels)) > limits.CHANNELS:
            raise Damage("it defines too many channels")
        return None

    def _message(self, message: Message) -> Event:
        channel = self._channels.get(message.channel_id)
        if channel is None:
            raise Damage("a message belongs to no channel")
        self._left = limits.EVENT_BYTES
        self._spend(len(message.data))
        topic = channel.topic
        if topic not in schemas():
            return self._foreign(message, channel)
        if channel.message_encoding != limits.MESSAGE_ENCODING:
            raise Damage(f"events of {topic} are encoded as {channel.message_encoding!r}")
        stored = decode(message.data)
        if not isinstance(stored, dict):
            raise Damage(f"an event of {topic} is no map")
        self._begin(topic, stored)
        event = upcast(topic, stored, self._version)
        self._count(event.get("seq"))
        if self._blobs:
            event = self._resolved(event)
            if topic == "observation":
                event["observation"] = self._deltas.decode(event.get("observation"), self._spend)
            check(schemas()[topic], event)
        else:
            check(envelope(topic), event)
        return {**event, "channel": topic}

    def _begin(self, topic: str, event: Event) -> None:
        """The session comes first, once, and tells the version of all that follows."""
        if (topic == "session") != (self._next == 0):
            raise Damage("it has two sessions" if self._next else f"it begins with {topic}, not its session")
        if topic != "session":
            return
        version = event.get("skn")
        if not isinstance(version, (int, float)) or isinstance(version, bool):
            raise Damage("its session does not tell the version")
        if not 0 <= version <= limits.MAX_INTEGER or version % 1 != 0:
            raise Damage("its session does not tell the version")
        self._version = int(version)
        if version > limits.SKN_VERSION:
            raise ShinkenError(
                "unsupported_version",
                f"{self._path} is of version {version}; {limits.SKN_VERSION} is the newest that is read",
                path=self._path,
                suggestion="use a newer shinken-gym",
            )

    def _count(self, seq: Any) -> None:
        if isinstance(seq, bool) or seq != self._next:
            what = seq if isinstance(seq, (int, float)) else "none"
            raise Damage(f"event {self._next} is missing: {what} follows")
        self._next += 1

    def _foreign(self, message: Message, channel: Channel) -> Event:
        schema = self._schemas.get(channel.schema_id)
        payload: Any = message.data
        if channel.message_encoding == limits.MESSAGE_ENCODING:
            try:
                payload = decode(message.data)
            except Damage:
                pass  # A stranger's msgpack may hold what ours may not: it stays bytes.
        # A later channel of the format takes part in the numbering; a stranger's does not.
        if schema is not None and schema.name.startswith(limits.SCHEMA_PREFIX):
            if self._next == 0:
                raise Damage(f"it begins with {channel.topic}, not its session")
            self._count(payload.get("seq") if isinstance(payload, dict) else None)
        return {
            "channel": channel.topic,
            "foreign": True,
            "seq": message.sequence,
            "t_wall": message.log_time // 1_000_000,
            "payload": payload,
            "raw": {
                "topic": channel.topic,
                "messageEncoding": channel.message_encoding,
                "schema": None
                if schema is None
                else {"id": schema.id, "name": schema.name, "encoding": schema.encoding, "data": schema.data},
                "data": message.data,
            },
        }

    def _resolved(self, event: Event) -> Event:
        """With the content of its blobs, each read once."""
        contents: dict[BlobRef, str | bytes] = {}
        wanted: list[BlobRef] = []

        def find(_path: str, leaf: Any) -> Any:
            if isinstance(leaf, BlobRef):
                self._spend(leaf.bytes)
                wanted.append(leaf)
            return leaf

        def fill(_path: str, leaf: Any) -> Any:
            return contents[leaf] if isinstance(leaf, BlobRef) else leaf

        map_leaves(event, find)
        for ref in wanted:
            if ref not in contents:
                self._folder = self._folder or folder_of(self._path)
                contents[ref] = read_blob(self._folder, ref)
        resolved: Event = map_leaves(event, fill)
        return resolved

    def _spend(self, size: int) -> None:
        self._left -= size
        if self._budget is not None:
            self._budget -= size
        if self._left < 0 or (self._budget is not None and self._budget < 0):
            message = f"{self._path}: event {self._next} and what it stands for is more than is read"
            raise ShinkenError("too_large", message, path=self._path)


class _Steps:
    """Steps by number. What belongs to the first state or to one before it is the start."""

    def __init__(self, first: int) -> None:
        self.start = BundleStep(first)
        self._steps: dict[int, BundleStep] = {}
        self._latest = self.start

    def ordered(self) -> list[BundleStep]:
        return [self._steps[number] for number in sorted(self._steps)]

    def place(self, event: Event) -> None:
        if is_foreign(event):
            # Events of unknown channels belong to the latest step that anything was told of.
            self._latest.others.append(event)
        else:
            _put(self._of(event["step"]), event)

    def _of(self, number: int) -> BundleStep:
        step = self.start if number <= self.start.step else self._steps.setdefault(number, BundleStep(number))
        if step.step >= self._latest.step:
            self._latest = step
        return step


#: Markers of a step that got no observation. After the latter two the machine may have changed all the same.
_UNANSWERED = ("refused", "cancelled", "failed")


def _put(step: BundleStep, event: Event) -> None:
    channel = event["channel"]
    if channel == "action":
        step.actions.append(event)
    elif channel == "reward":
        step.rewards.append(event)
    elif channel == "decision":
        step.decisions.append(event)
    elif channel == "observation":
        if step.observation is not None:
            step.others.append(step.observation)
        step.observation = event
    elif channel == "snapshot":
        if step.snapshot is not None:
            step.others.append(step.snapshot)
        step.snapshot = event
    else:
        step.others.append(event)
        if channel == "marker" and event.get("kind") in _UNANSWERED:
            # What was asked for before it was not done, or not to its end; whatever follows is asked anew.
            step.others += step.decisions + step.actions
            step.decisions, step.actions = [], []
