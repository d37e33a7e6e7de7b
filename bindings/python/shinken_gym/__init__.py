"""Client of Shinken Gym: reset, step and evaluate real Linux machines over a WebSocket."""

from ._aio import AsyncClient, AsyncSession, connect_async
from ._client import Client, Session, connect
from .errors import ShinkenError
from .types import (
    Action,
    ActionResult,
    Checkpoint,
    Checkpoints,
    CheckResult,
    Event,
    Info,
    Observation,
    ResetResult,
    ServerInfo,
    SessionInfo,
    StepResult,
    TaskInfo,
    Verdict,
)

__all__ = [
    "Action",
    "ActionResult",
    "AsyncClient",
    "AsyncSession",
    "CheckResult",
    "Checkpoint",
    "Checkpoints",
    "Client",
    "Event",
    "Info",
    "Observation",
    "ResetResult",
    "ServerInfo",
    "Session",
    "SessionInfo",
    "ShinkenError",
    "StepResult",
    "TaskInfo",
    "Verdict",
    "connect",
    "connect_async",
]
