"""How an analyst's two processes talk: a length of 4 bytes and as much JSON, both ways.

JSON and Arrow hold data only: what one side sends cannot make the other run anything.
"""

from __future__ import annotations

import json
from typing import IO, Any

_LENGTH_BYTES = 4


def send(out: IO[bytes], message: dict[str, Any]) -> None:
    """Write one message."""
    data = json.dumps(message).encode()
    out.write(len(data).to_bytes(_LENGTH_BYTES) + data)
    out.flush()


def receive(source: IO[bytes]) -> dict[str, Any] | None:
    """Read one message; None when the other side is gone."""
    head = source.read(_LENGTH_BYTES)
    if len(head) < _LENGTH_BYTES:
        return None
    try:
        message = json.loads(source.read(int.from_bytes(head)))
    except ValueError:
        return None
    return message if isinstance(message, dict) else None
