"""How two processes talk: messages are JSON behind their length, rows are frames of Arrow.

JSON and Arrow hold data only: what one side sends cannot make the other run anything. Whoever
reads says how long a message or frame may be.
"""

from __future__ import annotations

import json
from typing import IO, Any

LENGTH_BYTES = 8
LARGEST_MESSAGE = 16 * 2**20


def send(out: IO[bytes], message: dict[str, Any]) -> None:
    """Write one message."""
    send_frame(out, json.dumps(message).encode())


def receive(source: IO[bytes]) -> dict[str, Any] | None:
    """Read one message; None when the other side is gone, or says something else."""
    length = int.from_bytes(source.read(LENGTH_BYTES))
    return decoded(source.read(length)) if 0 < length <= LARGEST_MESSAGE else None


def send_frame(out: IO[bytes], data: bytes | memoryview = b"") -> None:
    """Write one frame; an empty one says that there are no more."""
    out.write(len(data).to_bytes(LENGTH_BYTES))
    out.write(data)
    out.flush()


def decoded(data: bytes | bytearray) -> dict[str, Any] | None:
    """Return the message that some bytes are; None if they are none."""
    try:
        message = json.loads(data)
    except (ValueError, RecursionError):
        return None
    return message if isinstance(message, dict) else None
