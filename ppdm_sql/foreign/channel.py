"""This end of the pipes to another process: whatever is read has a size, and waiting has an end."""

from __future__ import annotations

import json
import os
import select
import time
from typing import Any

from ppdm_sql.foreign.wire import LARGEST_MESSAGE, LENGTH_BYTES, decoded

_PIECE = 1 << 20


class Gone(Exception):
    """The other process ended before it answered, or answered what nobody asked for."""


class Late(Exception):
    """The other process took longer than it may."""


class TooLarge(Exception):
    """The other process sends more than is taken."""


class Patience:
    """Seconds that may be spent waiting, all in all; the time between two waits does not count."""

    def __init__(self, seconds: float) -> None:
        self._left = seconds

    def wait(self, handle: int, event: int) -> None:
        """Wait until a pipe can be read or written; raise when the time is over."""
        began = time.monotonic()
        poll = select.poll()
        poll.register(handle, event)
        found = poll.poll(max(self._left, 0) * 1000)
        self._left -= time.monotonic() - began
        if not found:
            raise Late


class Channel:
    """Two pipes: messages go out, messages and frames come in."""

    def __init__(self, to: int, source: int) -> None:
        self._to, self._source = to, source
        os.set_blocking(to, False)
        os.set_blocking(source, False)

    def send(self, message: dict[str, Any], patience: Patience) -> None:
        """Write one message."""
        data = json.dumps(message).encode()
        waiting = memoryview(len(data).to_bytes(LENGTH_BYTES) + data)
        while waiting:
            patience.wait(self._to, select.POLLOUT)
            try:
                waiting = waiting[os.write(self._to, waiting) :]
            except BlockingIOError:
                continue
            except OSError:
                raise Gone from None

    def receive(self, patience: Patience) -> dict[str, Any]:
        """Read one message."""
        try:
            message = decoded(self.frame(patience, LARGEST_MESSAGE))
        except TooLarge:
            raise Gone from None
        if message is None:
            raise Gone
        return message

    def frame(self, patience: Patience, most_bytes: int) -> bytearray:
        """Read one frame; an empty one is the last."""
        length = int.from_bytes(self._exactly(LENGTH_BYTES, patience))
        if length > most_bytes:
            raise TooLarge
        return self._exactly(length, patience)

    def _exactly(self, length: int, patience: Patience) -> bytearray:
        # Grows with what has come, whatever length the other side claims.
        data = bytearray()
        while len(data) < length:
            patience.wait(self._source, select.POLLIN)
            try:
                piece = os.read(self._source, min(length - len(data), _PIECE))
            except BlockingIOError:
                continue
            except OSError:
                raise Gone from None
            if not piece:
                raise Gone
            data += piece
        return data
